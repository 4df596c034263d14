// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "http/client.hpp"

#include "http/raw_server.hpp"
#include "http/tls_server.hpp"
#include "support/world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <boost/asio/co_spawn.hpp>

#include <chrono>
#include <future>
#include <memory>

namespace hapax::http {
namespace {

using test::end_sending;
using test::hear;
using test::RawServer;
using test::say;
using test::wait_for_end;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::string_view kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

// Longer than any machine needs: a time-out that is not the subject of a test never expires in it.
constexpr std::chrono::minutes kGenerous{10};

ClientLimits generous() {
  ClientLimits limits;
  limits.connect = kGenerous;
  limits.total = kGenerous;
  return limits;
}

// A connection of a test, asked one thing after the other.
class Asking {
 public:
  explicit Asking(const std::string& url, ClientLimits limits = generous(),
                  std::shared_ptr<const ClientTls> tls = nullptr)
      : connection_(context_.get_executor(), *parse_url(url), limits, std::move(tls)) {}
  explicit Asking(const RawServer& server, ClientLimits limits = generous())
      : Asking("http://127.0.0.1:" + std::to_string(server.port()), limits) {}

  // With all the time it takes, whatever the limits are.
  std::optional<Failure> connect() {
    std::optional<Failure> failed;
    boost::asio::co_spawn(
        context_, connection_.connect(kGenerous),
        [&](const std::exception_ptr&, std::optional<Failure> got) { failed = std::move(got); });
    context_.restart();
    context_.run();
    return failed;
  }

  Exchanged ask(const Outgoing& request) {
    Exchanged result;
    boost::asio::co_spawn(
        context_, connection_.exchange(request),
        [&](const std::exception_ptr&, Exchanged got) { result = std::move(got); });
    context_.restart();
    context_.run();
    return result;
  }
  Exchanged get(std::string_view target = "/") {
    const Outgoing request{"GET", target, {}, {}};
    return ask(request);
  }
  Exchanged post(std::string_view body) {
    const Outgoing request{"POST", "/in", {}, body};
    return ask(request);
  }
  // Until the head is in; then, with `most`, so much of the body.
  Exchanged begin(std::size_t most = 0) {
    Exchanged result;
    const Outgoing request{"POST", "/in", {}, "x"};
    boost::asio::co_spawn(
        context_, connection_.begin(request, kGenerous),
        [&](const std::exception_ptr&, Exchanged got) { result = std::move(got); });
    context_.restart();
    context_.run();
    if (most == 0 || !result.response) return result;
    boost::asio::co_spawn(context_, connection_.rest(result.response->body, most, kGenerous),
                          [&](const std::exception_ptr&, bool got) { whole_ = got; });
    context_.restart();
    context_.run();
    return result;
  }
  bool reusable() const { return connection_.reusable(); }
  bool whole() const { return whole_; }

 private:
  bool whole_ = false;
  boost::asio::io_context context_{1};
  ClientConnection connection_;
};

// What comes of an answer that is exactly these bytes, after which the server closes.
Exchanged answered_with(const std::string& bytes, ClientLimits limits = generous()) {
  const RawServer server([&](int fd, int) {
    hear(fd);
    say(fd, bytes);
    shutdown(fd, SHUT_WR);
    wait_for_end(fd);
  });
  Asking asking(server, limits);
  return asking.get();
}

TEST(Client, SendsARequestAndReadsItsAnswer) {
  std::string heard;
  const RawServer server([&](int fd, int) {
    heard = hear(fd);
    say(fd, "HTTP/1.1 201 Created\r\nX-A: 1\r\nContent-Length: 3\r\nx-b: two\r\n\r\nyes");
    wait_for_end(fd);
  });
  Asking asking(server);
  const std::vector<Header> headers{{"X-Id", "7"}};
  const Outgoing request{"POST", "/in/demo?x=1", headers, "body"};
  const Exchanged result = asking.ask(request);
  ASSERT_TRUE(result.response) << result.failure.detail;
  EXPECT_EQ(heard,
            "POST /in/demo?x=1 HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(server.port()) +
                "\r\nX-Id: 7\r\nContent-Length: 4\r\n\r\nbody");
  EXPECT_EQ(result.response->status, 201);
  EXPECT_EQ(result.response->body, "yes");
  EXPECT_EQ(*result.response->find("x-a"), "1");
  EXPECT_EQ(*result.response->find("X-B"), "two");
  EXPECT_EQ(result.response->find("X-C"), nullptr);
  EXPECT_TRUE(asking.reusable());
}

TEST(Client, ReusesTheConnection) {
  const RawServer server([&](int fd, int number) {
    while (!hear(fd).empty()) {
      say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n" + std::to_string(number));
    }
  });
  Asking asking(server);
  for (int i = 0; i < 5; ++i) {
    const Exchanged result = asking.post("x");
    ASSERT_TRUE(result.response) << result.failure.detail;
    EXPECT_EQ(result.response->body, "1");
  }
}

TEST(Client, ReconnectsWhenClosedBetweenRequests) {
  std::promise<void> closed;
  const RawServer server([&](int fd, int number) {
    hear(fd);
    say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n" + std::to_string(number));
    EXPECT_TRUE(end_sending(fd));
    if (number == 1) closed.set_value();
  });
  Asking asking(server);
  EXPECT_EQ(asking.get().response->body, "1");
  closed.get_future().wait();
  const Exchanged second = asking.get();
  ASSERT_TRUE(second.response) << second.failure.detail;
  EXPECT_EQ(second.response->body, "2");
}

TEST(Client, DoesNotReuseAConnectionThatTheServerEnds) {
  const RawServer server([&](int fd, int number) {
    hear(fd);
    say(fd, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\n" +
                std::to_string(number));
    wait_for_end(fd);
  });
  Asking asking(server);
  EXPECT_EQ(asking.get().response->body, "1");
  EXPECT_FALSE(asking.reusable());
  EXPECT_EQ(asking.get().response->body, "2");
}

TEST(Client, DoesNotReuseAConnectionWithUnexpectedBytes) {
  const RawServer server([&](int fd, int) {
    hear(fd);
    say(fd, std::string(kOk) + "HTTP/1.1 200 OK\r\n");
    wait_for_end(fd);
  });
  Asking asking(server);
  EXPECT_EQ(asking.get().response->body, "ok");
  EXPECT_FALSE(asking.reusable());
}

TEST(Client, SkipsInterimAnswers) {
  const Exchanged result =
      answered_with("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" +
                    std::string(kOk));
  ASSERT_TRUE(result.response) << result.failure.detail;
  EXPECT_EQ(result.response->status, 200);
  EXPECT_EQ(result.response->body, "ok");
  EXPECT_EQ(result.response->find("Link"), nullptr);
}

TEST(Client, DoesNotListenToInterimAnswersForEver) {
  std::string many;
  for (int i = 0; i < 100; ++i) many += "HTTP/1.1 102 Processing\r\n\r\n";
  const Exchanged result = answered_with(many + std::string(kOk));
  ASSERT_FALSE(result.response);
  EXPECT_EQ(result.failure.trouble, Trouble::malformed);
  EXPECT_TRUE(result.failure.sent);
}

TEST(Client, ReadsChunkedBodies) {
  const Exchanged result = answered_with(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n6\r\n "
      "world\r\n0\r\nT: 1\r\n\r\n");
  ASSERT_TRUE(result.response) << result.failure.detail;
  EXPECT_EQ(result.response->body, "hello world");
}

TEST(Client, ReadsABodyThatEndsWithTheConnection) {
  const Exchanged result = answered_with("HTTP/1.1 200 OK\r\n\r\nall of it");
  ASSERT_TRUE(result.response) << result.failure.detail;
  EXPECT_EQ(result.response->body, "all of it");
}

TEST(Client, TakesNoBodyWhereThereIsNone) {
  EXPECT_EQ(answered_with("HTTP/1.1 204 No Content\r\n\r\n").response->status, 204);
  const RawServer server([&](int fd, int) {
    while (!hear(fd).empty()) say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n");
  });
  Asking asking(server);
  const Outgoing request{"HEAD", "/", {}, {}};
  for (int i = 0; i < 2; ++i) {
    const Exchanged result = asking.ask(request);
    ASSERT_TRUE(result.response) << result.failure.detail;
    EXPECT_EQ(result.response->body, "");
    EXPECT_TRUE(asking.reusable());
  }
}

TEST(Client, AnAnswerCutShortAnywhereIsNone) {
  for (const std::string& whole :
       {std::string(kOk), std::string("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n"
                                      "ok\r\n0\r\n\r\n")}) {
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const Exchanged result = answered_with(whole.substr(0, size));
      ASSERT_FALSE(result.response) << size;
      EXPECT_EQ(result.failure.trouble, Trouble::closed) << size << ": " << result.failure.detail;
      EXPECT_TRUE(result.failure.sent);
      EXPECT_THAT(result.failure.detail, HasSubstr(size == 0 ? "without a response" : "truncated"));
    }
  }
}

TEST(Client, RefusesAnswersOverTheLimits) {
  ClientLimits limits = generous();
  limits.head = 1000;
  limits.body = 100;
  const std::string head = "HTTP/1.1 200 OK\r\nX-Long: ";
  const auto trouble = [&](const std::string& bytes) {
    const Exchanged result = answered_with(bytes, limits);
    EXPECT_FALSE(result.response) << bytes;
    return result.failure.trouble;
  };
  EXPECT_EQ(trouble(head + std::string(2000, 'x') + "\r\n\r\n"), Trouble::too_large);
  EXPECT_EQ(trouble(head + std::string(100'000, 'x')), Trouble::too_large);
  EXPECT_EQ(trouble("HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\n"), Trouble::too_large);
  EXPECT_EQ(trouble("HTTP/1.1 200 OK\r\n\r\n" + std::string(101, 'x')), Trouble::too_large);
  EXPECT_EQ(trouble("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n65\r\n" +
                    std::string(101, 'x') + "\r\n0\r\n\r\n"),
            Trouble::too_large);
  const Exchanged just = answered_with(
      "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + std::string(100, 'x'), limits);
  EXPECT_TRUE(just.response) << just.failure.detail;
}

TEST(Client, RefusesAnswersWhoseEndIsInDoubt) {
  for (const std::string& bytes : {
           std::string("SSH-2.0-OpenSSH\r\n\r\n"),
           std::string("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok!"),
           std::string("HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nok"),
           std::string("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nok"),
           std::string("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n"),
           std::string("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
           std::string("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: "
                       "chunked\r\n\r\n0\r\n\r\n"),
           std::string("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n"),
           std::string("HTTP/1.1 101 Switching Protocols\r\n\r\n"),
       }) {
    const Exchanged result = answered_with(bytes);
    EXPECT_FALSE(result.response) << bytes;
    EXPECT_EQ(result.failure.trouble, Trouble::malformed) << bytes << result.failure.detail;
  }
}

TEST(Client, DoesNotExceedItsTimeout) {
  for (const std::string& part : {std::string(), std::string("HTTP/1.1 200 OK\r\n"),
                                  std::string("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no")}) {
    const RawServer server([&](int fd, int) {
      hear(fd);
      say(fd, part);
      wait_for_end(fd);
    });
    ClientLimits limits = generous();
    limits.total = std::chrono::milliseconds(50);
    Asking asking(server, limits);
    ASSERT_FALSE(asking.connect());  // first, so that the time is that of the exchange alone
    const Exchanged result = asking.get();
    ASSERT_FALSE(result.response);
    EXPECT_EQ(result.failure.trouble, Trouble::timed_out);
    EXPECT_TRUE(result.failure.sent);
    EXPECT_FALSE(asking.reusable());
  }
}

TEST(Client, HearsWhyALargeRequestWasNotReadToItsEnd) {
  const RawServer server([&](int fd, int) {
    say(fd, "HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\n\r\nno");
    wait_for_end(fd);
  });
  Asking asking(server);
  const Exchanged result = asking.post(std::string(200'000, 'x'));
  ASSERT_TRUE(result.response) << result.failure.detail;
  EXPECT_EQ(result.response->status, 413);
}

TEST(Client, NothingIsSentWithoutAListener) {
  std::uint16_t port = 0;
  {
    const RawServer server([](int, int) {});
    port = server.port();
  }
  Asking asking("http://127.0.0.1:" + std::to_string(port));
  const Exchanged result = asking.get();
  ASSERT_FALSE(result.response);
  EXPECT_EQ(result.failure.trouble, Trouble::refused);
  EXPECT_FALSE(result.failure.sent);
  EXPECT_FALSE(asking.reusable());
}

TEST(Client, LooksUpNames) {
  const RawServer server([](int fd, int) {
    hear(fd);
    say(fd, kOk);
    wait_for_end(fd);
  });
  Asking asking("http://localhost:" + std::to_string(server.port()));
  const Exchanged result = asking.get();
  ASSERT_TRUE(result.response) << result.failure.detail;
  Asking nowhere("http://no-such-host.invalid:1");
  const Exchanged none = nowhere.get();
  EXPECT_EQ(none.failure.trouble, Trouble::unresolved);
  EXPECT_FALSE(none.failure.sent);
}

TEST(Client, SendsNoHeaderThatWouldBeTwo) {
  Asking asking("http://127.0.0.1:1");
  for (const Header& bad :
       {Header{"X-A", "1\r\nX-B: 2"}, Header{"X A", "1"}, Header{"", "1"}, Header{"X\nY", "1"}}) {
    const std::vector<Header> headers{bad};
    const Outgoing request{"GET", "/", headers, {}};
    EXPECT_EQ(asking.ask(request).failure.trouble, Trouble::bad_request);
  }
  EXPECT_EQ(asking.get("/a b").failure.trouble, Trouble::bad_request);
  EXPECT_EQ(asking.get("/a\r\nX: 1").failure.trouble, Trouble::bad_request);
}

class ClientTlsTest : public testing::Test {
 protected:
  std::string url(const std::string& host) const {
    return "https://" + host + ":" + std::to_string(server_.port());
  }

  test::TempDir directory_;
  test::Certificate certificate_{"localhost", "127.0.0.1"};
  std::string ca_ = certificate_.write_to(directory_.file("ca.pem"));
  RawServer server_{[this](int fd, int) { test::serve_tls(fd, certificate_, kOk); }};
};

TEST_F(ClientTlsTest, RefusesAnUntrustedCertificate) {
  Asking asking(url("localhost"), generous(), *ClientTls::make());
  const Exchanged result = asking.post("secret");
  ASSERT_FALSE(result.response);
  EXPECT_EQ(result.failure.trouble, Trouble::certificate) << result.failure.detail;
  EXPECT_FALSE(result.failure.sent);
}

TEST_F(ClientTlsTest, AcceptsItWithItsAuthority) {
  for (const char* host : {"localhost", "127.0.0.1"}) {
    Asking asking(url(host), generous(), *ClientTls::make(ca_));
    for (int i = 0; i < 3; ++i) {
      const Exchanged result = asking.post("x");
      ASSERT_TRUE(result.response) << result.failure.detail;
      EXPECT_EQ(result.response->body, "ok");
      EXPECT_TRUE(asking.reusable());
    }
  }
}

TEST_F(ClientTlsTest, RefusesTheCertificateOfAnotherHost) {
  const test::Certificate other("elsewhere.example", "10.0.0.1");
  const std::string ca = other.write_to(directory_.file("other.pem"));
  const RawServer server([&](int fd, int) { test::serve_tls(fd, other, kOk); });
  for (const char* host : {"localhost", "127.0.0.1"}) {
    Asking asking("https://" + std::string(host) + ":" + std::to_string(server.port()), generous(),
                  *ClientTls::make(ca));
    const Exchanged result = asking.get();
    ASSERT_FALSE(result.response);
    EXPECT_EQ(result.failure.trouble, Trouble::certificate) << result.failure.detail;
    EXPECT_THAT(result.failure.detail, HasSubstr("mismatch"));
  }
}

TEST_F(ClientTlsTest, AServerWithoutTlsIsNotTalkedTo) {
  const RawServer plain([](int fd, int) { say(fd, kOk); });
  Asking asking("https://127.0.0.1:" + std::to_string(plain.port()), generous(),
                *ClientTls::make(ca_));
  const Exchanged result = asking.get();
  ASSERT_FALSE(result.response);
  EXPECT_EQ(result.failure.trouble, Trouble::tls) << result.failure.detail;
  EXPECT_FALSE(result.failure.sent);
}

TEST_F(ClientTlsTest, AnUnresponsiveServerTimesOut) {
  const RawServer deaf([](int fd, int) { wait_for_end(fd); });
  ClientLimits limits = generous();
  limits.connect = std::chrono::milliseconds(50);
  Asking asking("https://127.0.0.1:" + std::to_string(deaf.port()), limits, *ClientTls::make(ca_));
  const Exchanged result = asking.get();
  EXPECT_EQ(result.failure.trouble, Trouble::timed_out) << result.failure.detail;
  EXPECT_FALSE(result.failure.sent);
}

TEST_F(ClientTlsTest, AFileThatIsNoCertificateIsReported) {
  const auto made = ClientTls::make(directory_.file("none.pem"));
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().detail(), HasSubstr("none.pem"));
}

TEST(ClientBegin, IsThroughWhenTheHeadIsIn) {
  const RawServer server([&](int fd, int) {
    hear(fd);
    say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 1000000000000000\r\n\r\n");
    wait_for_end(fd);
  });
  Asking asking(server);
  const Exchanged result = asking.begin();
  ASSERT_TRUE(result.response) << result.failure.detail;
  EXPECT_EQ(result.response->status, 200);
  EXPECT_FALSE(asking.reusable());
}

TEST(ClientBegin, AWholeAnswerLeavesTheConnectionForTheNext) {
  const RawServer server([&](int fd, int number) {
    while (!hear(fd).empty()) {
      say(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n" +
                  std::to_string(number) + "\r\n0\r\n\r\n");
    }
  });
  Asking asking(server);
  for (int i = 0; i < 3; ++i) {
    const Exchanged result = asking.begin(100);
    ASSERT_TRUE(result.response) << result.failure.detail;
    EXPECT_EQ(result.response->body, "1");
    EXPECT_TRUE(asking.whole());
    EXPECT_TRUE(asking.reusable());
  }
}

TEST(ClientBegin, OfALongBodyOnlySoMuchIsRead) {
  const RawServer server([&](int fd, int) {
    hear(fd);
    say(fd, "HTTP/1.1 500 No\r\nContent-Length: 10000000\r\n\r\n" + std::string(10'000'000, 'x'));
  });
  Asking asking(server);
  const Exchanged result = asking.begin(100'000);
  ASSERT_TRUE(result.response) << result.failure.detail;
  EXPECT_GE(result.response->body.size(), 100'000U);
  EXPECT_LE(result.response->body.size(), 300'000U);
  EXPECT_FALSE(asking.whole());
  EXPECT_FALSE(asking.reusable());
}

TEST(ClientBegin, ABodyThatEndsWithTheConnectionIsWhole) {
  const RawServer server([&](int fd, int) {
    hear(fd);
    say(fd, "HTTP/1.1 200 OK\r\n\r\nall of it");
  });
  Asking asking(server);
  const Exchanged result = asking.begin(100);
  ASSERT_TRUE(result.response) << result.failure.detail;
  EXPECT_EQ(result.response->body, "all of it");
  EXPECT_TRUE(asking.whole());
  EXPECT_FALSE(asking.reusable());
}

TEST(Client, ConnectsOnlyToPublicAddressesWhenConfigured) {
  const RawServer server([&](int fd, int) { wait_for_end(fd); });
  for (const char* host : {"127.0.0.1", "localhost", "[::ffff:127.0.0.1]"}) {
    ClientLimits limits = generous();
    limits.public_only = true;
    Asking asking("http://" + std::string(host) + ":" + std::to_string(server.port()), limits);
    const Exchanged result = asking.get();
    EXPECT_EQ(result.failure.trouble, Trouble::address_refused) << result.failure.detail;
    EXPECT_FALSE(result.failure.sent);
  }
}

TEST(Url, IsTakenApart) {
  const Url plain = *parse_url("http://example.com");
  EXPECT_EQ(plain.to_string(), "http://example.com/");
  EXPECT_EQ(plain.port, 80);
  const Url secure = *parse_url("https://[::1]:8443/a%20b?x=1&y#part");
  EXPECT_TRUE(secure.tls);
  EXPECT_EQ(secure.host, "::1");
  EXPECT_EQ(secure.port, 8443);
  EXPECT_EQ(secure.target, "/a%20b?x=1&y");
  EXPECT_EQ(secure.authority(), "[::1]:8443");
  EXPECT_EQ(parse_url("https://a?x=1")->target, "/?x=1");
  for (const char* bad : {"", "example.com", "ftp://a/", "http://", "http://u:p@a/", "http://a:0/",
                          "http://a:70000/", "http://a b/", "http://a/\r\nX: 1"}) {
    EXPECT_FALSE(parse_url(bad)) << bad;
  }
}

}  // namespace
}  // namespace hapax::http
