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
using test::RawServer;
using test::read_request;
using test::wait_for_end;
using test::write_text;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::string_view kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

// Long enough for any machine: a timeout that is not under test never expires.
constexpr std::chrono::minutes kGenerous{10};

ClientLimits generous() {
  ClientLimits limits;
  limits.connect = kGenerous;
  limits.total = kGenerous;
  return limits;
}

// A client connection that sends one request after the other.
class TestClient {
 public:
  explicit TestClient(const std::string& url, ClientLimits limits = generous(),
                      std::shared_ptr<const ClientTls> tls = nullptr)
      : connection_(context_.get_executor(), *parse_url(url), limits, std::move(tls)) {}
  explicit TestClient(const RawServer& server, ClientLimits limits = generous())
      : TestClient("http://127.0.0.1:" + std::to_string(server.port()), limits) {}

  // Connects without regard to the timeouts in the limits.
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
  // Reads the head of the response, then at least `most` bytes of its body if `most` is not 0.
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

// The result of a request whose response is exactly these bytes, after which the server closes.
Exchanged answered_with(const std::string& bytes, ClientLimits limits = generous()) {
  const RawServer server([&](int fd, int) {
    read_request(fd);
    write_text(fd, bytes);
    shutdown(fd, SHUT_WR);
    wait_for_end(fd);
  });
  TestClient client(server, limits);
  return client.get();
}

TEST(Client, SendsARequestAndReadsItsResponse) {
  std::string received;
  const RawServer server([&](int fd, int) {
    received = read_request(fd);
    write_text(fd, "HTTP/1.1 201 Created\r\nX-A: 1\r\nContent-Length: 3\r\nx-b: two\r\n\r\nyes");
    wait_for_end(fd);
  });
  TestClient client(server);
  const std::vector<Header> headers{{"X-Id", "7"}};
  const Outgoing request{"POST", "/in/demo?x=1", headers, "body"};
  const Exchanged result = client.ask(request);
  ASSERT_TRUE(result.response) << result.failure.detail;
  EXPECT_EQ(received,
            "POST /in/demo?x=1 HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(server.port()) +
                "\r\nX-Id: 7\r\nContent-Length: 4\r\n\r\nbody");
  EXPECT_EQ(result.response->status, 201);
  EXPECT_EQ(result.response->body, "yes");
  EXPECT_EQ(*result.response->find("x-a"), "1");
  EXPECT_EQ(*result.response->find("X-B"), "two");
  EXPECT_EQ(result.response->find("X-C"), nullptr);
  EXPECT_TRUE(client.reusable());
}

TEST(Client, ReusesTheConnection) {
  const RawServer server([&](int fd, int number) {
    while (!read_request(fd).empty()) {
      write_text(fd, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n" + std::to_string(number));
    }
  });
  TestClient client(server);
  for (int i = 0; i < 5; ++i) {
    const Exchanged result = client.post("x");
    ASSERT_TRUE(result.response) << result.failure.detail;
    EXPECT_EQ(result.response->body, "1");
  }
}

TEST(Client, ReconnectsWhenClosedBetweenRequests) {
  std::promise<void> closed;
  const RawServer server([&](int fd, int number) {
    read_request(fd);
    write_text(fd, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n" + std::to_string(number));
    EXPECT_TRUE(end_sending(fd));
    if (number == 1) closed.set_value();
  });
  TestClient client(server);
  EXPECT_EQ(client.get().response->body, "1");
  closed.get_future().wait();
  const Exchanged second = client.get();
  ASSERT_TRUE(second.response) << second.failure.detail;
  EXPECT_EQ(second.response->body, "2");
}

TEST(Client, DoesNotReuseAConnectionThatTheServerCloses) {
  const RawServer server([&](int fd, int number) {
    read_request(fd);
    write_text(fd, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\n" +
                       std::to_string(number));
    wait_for_end(fd);
  });
  TestClient client(server);
  EXPECT_EQ(client.get().response->body, "1");
  EXPECT_FALSE(client.reusable());
  EXPECT_EQ(client.get().response->body, "2");
}

TEST(Client, DoesNotReuseAConnectionWithUnexpectedBytes) {
  const RawServer server([&](int fd, int) {
    read_request(fd);
    write_text(fd, std::string(kOk) + "HTTP/1.1 200 OK\r\n");
    wait_for_end(fd);
  });
  TestClient client(server);
  EXPECT_EQ(client.get().response->body, "ok");
  EXPECT_FALSE(client.reusable());
}

TEST(Client, SkipsInterimResponses) {
  const Exchanged result =
      answered_with("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" +
                    std::string(kOk));
  ASSERT_TRUE(result.response) << result.failure.detail;
  EXPECT_EQ(result.response->status, 200);
  EXPECT_EQ(result.response->body, "ok");
  EXPECT_EQ(result.response->find("Link"), nullptr);
}

TEST(Client, LimitsInterimResponses) {
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

TEST(Client, ReadsResponsesWithoutABody) {
  EXPECT_EQ(answered_with("HTTP/1.1 204 No Content\r\n\r\n").response->status, 204);
  const RawServer server([&](int fd, int) {
    while (!read_request(fd).empty())
      write_text(fd, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n");
  });
  TestClient client(server);
  const Outgoing request{"HEAD", "/", {}, {}};
  for (int i = 0; i < 2; ++i) {
    const Exchanged result = client.ask(request);
    ASSERT_TRUE(result.response) << result.failure.detail;
    EXPECT_EQ(result.response->body, "");
    EXPECT_TRUE(client.reusable());
  }
}

TEST(Client, ATruncatedResponseIsAnError) {
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

TEST(Client, RejectsResponsesOverTheLimits) {
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

TEST(Client, RejectsResponsesWithAmbiguousFraming) {
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
      read_request(fd);
      write_text(fd, part);
      wait_for_end(fd);
    });
    ClientLimits limits = generous();
    limits.total = std::chrono::milliseconds(50);
    TestClient client(server, limits);
    ASSERT_FALSE(client.connect());  // so that the timeout applies only to the exchange
    const Exchanged result = client.get();
    ASSERT_FALSE(result.response);
    EXPECT_EQ(result.failure.trouble, Trouble::timed_out);
    EXPECT_TRUE(result.failure.sent);
    EXPECT_FALSE(client.reusable());
  }
}

TEST(Client, ReadsAnEarlyResponseToALargeRequest) {
  const RawServer server([&](int fd, int) {
    write_text(fd, "HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\n\r\nno");
    wait_for_end(fd);
  });
  TestClient client(server);
  const Exchanged result = client.post(std::string(200'000, 'x'));
  ASSERT_TRUE(result.response) << result.failure.detail;
  EXPECT_EQ(result.response->status, 413);
}

TEST(Client, NothingIsSentWithoutAListener) {
  std::uint16_t port = 0;
  {
    const RawServer server([](int, int) {});
    port = server.port();
  }
  TestClient client("http://127.0.0.1:" + std::to_string(port));
  const Exchanged result = client.get();
  ASSERT_FALSE(result.response);
  EXPECT_EQ(result.failure.trouble, Trouble::refused);
  EXPECT_FALSE(result.failure.sent);
  EXPECT_FALSE(client.reusable());
}

TEST(Client, ResolvesHostNames) {
  const RawServer server([](int fd, int) {
    read_request(fd);
    write_text(fd, kOk);
    wait_for_end(fd);
  });
  TestClient client("http://localhost:" + std::to_string(server.port()));
  const Exchanged result = client.get();
  ASSERT_TRUE(result.response) << result.failure.detail;
  TestClient nowhere("http://no-such-host.invalid:1");
  const Exchanged none = nowhere.get();
  EXPECT_EQ(none.failure.trouble, Trouble::unresolved);
  EXPECT_FALSE(none.failure.sent);
}

TEST(Client, RejectsHeaderInjection) {
  TestClient client("http://127.0.0.1:1");
  for (const Header& bad :
       {Header{"X-A", "1\r\nX-B: 2"}, Header{"X A", "1"}, Header{"", "1"}, Header{"X\nY", "1"}}) {
    const std::vector<Header> headers{bad};
    const Outgoing request{"GET", "/", headers, {}};
    EXPECT_EQ(client.ask(request).failure.trouble, Trouble::bad_request);
  }
  EXPECT_EQ(client.get("/a b").failure.trouble, Trouble::bad_request);
  EXPECT_EQ(client.get("/a\r\nX: 1").failure.trouble, Trouble::bad_request);
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

TEST_F(ClientTlsTest, RejectsAnUntrustedCertificate) {
  TestClient client(url("localhost"), generous(), *ClientTls::make());
  const Exchanged result = client.post("secret");
  ASSERT_FALSE(result.response);
  EXPECT_EQ(result.failure.trouble, Trouble::certificate) << result.failure.detail;
  EXPECT_FALSE(result.failure.sent);
}

TEST_F(ClientTlsTest, AcceptsACertificateOfAConfiguredAuthority) {
  for (const char* host : {"localhost", "127.0.0.1"}) {
    TestClient client(url(host), generous(), *ClientTls::make(ca_));
    for (int i = 0; i < 3; ++i) {
      const Exchanged result = client.post("x");
      ASSERT_TRUE(result.response) << result.failure.detail;
      EXPECT_EQ(result.response->body, "ok");
      EXPECT_TRUE(client.reusable());
    }
  }
}

TEST_F(ClientTlsTest, RejectsTheCertificateOfAnotherHost) {
  const test::Certificate other("elsewhere.example", "10.0.0.1");
  const std::string ca = other.write_to(directory_.file("other.pem"));
  const RawServer server([&](int fd, int) { test::serve_tls(fd, other, kOk); });
  for (const char* host : {"localhost", "127.0.0.1"}) {
    TestClient client("https://" + std::string(host) + ":" + std::to_string(server.port()),
                      generous(), *ClientTls::make(ca));
    const Exchanged result = client.get();
    ASSERT_FALSE(result.response);
    EXPECT_EQ(result.failure.trouble, Trouble::certificate) << result.failure.detail;
    EXPECT_THAT(result.failure.detail, HasSubstr("mismatch"));
  }
}

TEST_F(ClientTlsTest, NothingIsSentToAServerWithoutTls) {
  const RawServer plain([](int fd, int) { write_text(fd, kOk); });
  TestClient client("https://127.0.0.1:" + std::to_string(plain.port()), generous(),
                    *ClientTls::make(ca_));
  const Exchanged result = client.get();
  ASSERT_FALSE(result.response);
  EXPECT_EQ(result.failure.trouble, Trouble::tls) << result.failure.detail;
  EXPECT_FALSE(result.failure.sent);
}

TEST_F(ClientTlsTest, AnUnresponsiveServerTimesOut) {
  const RawServer deaf([](int fd, int) { wait_for_end(fd); });
  ClientLimits limits = generous();
  limits.connect = std::chrono::milliseconds(50);
  TestClient client("https://127.0.0.1:" + std::to_string(deaf.port()), limits,
                    *ClientTls::make(ca_));
  const Exchanged result = client.get();
  EXPECT_EQ(result.failure.trouble, Trouble::timed_out) << result.failure.detail;
  EXPECT_FALSE(result.failure.sent);
}

TEST_F(ClientTlsTest, AnUnreadableCertificateFileIsReported) {
  const auto made = ClientTls::make(directory_.file("none.pem"));
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().detail(), HasSubstr("none.pem"));
}

TEST(ClientBegin, ReturnsAfterTheHead) {
  const RawServer server([&](int fd, int) {
    read_request(fd);
    write_text(fd, "HTTP/1.1 200 OK\r\nContent-Length: 1000000000000000\r\n\r\n");
    wait_for_end(fd);
  });
  TestClient client(server);
  const Exchanged result = client.begin();
  ASSERT_TRUE(result.response) << result.failure.detail;
  EXPECT_EQ(result.response->status, 200);
  EXPECT_FALSE(client.reusable());
}

TEST(ClientBegin, ACompleteResponseLeavesTheConnectionReusable) {
  const RawServer server([&](int fd, int number) {
    while (!read_request(fd).empty()) {
      write_text(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n" +
                         std::to_string(number) + "\r\n0\r\n\r\n");
    }
  });
  TestClient client(server);
  for (int i = 0; i < 3; ++i) {
    const Exchanged result = client.begin(100);
    ASSERT_TRUE(result.response) << result.failure.detail;
    EXPECT_EQ(result.response->body, "1");
    EXPECT_TRUE(client.whole());
    EXPECT_TRUE(client.reusable());
  }
}

TEST(ClientBegin, ALongBodyIsReadOnlyInPart) {
  const RawServer server([&](int fd, int) {
    read_request(fd);
    write_text(
        fd, "HTTP/1.1 500 No\r\nContent-Length: 10000000\r\n\r\n" + std::string(10'000'000, 'x'));
  });
  TestClient client(server);
  const Exchanged result = client.begin(100'000);
  ASSERT_TRUE(result.response) << result.failure.detail;
  EXPECT_GE(result.response->body.size(), 100'000U);
  EXPECT_LE(result.response->body.size(), 300'000U);
  EXPECT_FALSE(client.whole());
  EXPECT_FALSE(client.reusable());
}

TEST(ClientBegin, ABodyThatEndsWithTheConnectionIsComplete) {
  const RawServer server([&](int fd, int) {
    read_request(fd);
    write_text(fd, "HTTP/1.1 200 OK\r\n\r\nall of it");
  });
  TestClient client(server);
  const Exchanged result = client.begin(100);
  ASSERT_TRUE(result.response) << result.failure.detail;
  EXPECT_EQ(result.response->body, "all of it");
  EXPECT_TRUE(client.whole());
  EXPECT_FALSE(client.reusable());
}

TEST(Client, ConnectsOnlyToPublicAddressesWhenConfigured) {
  const RawServer server([&](int fd, int) { wait_for_end(fd); });
  for (const char* host : {"127.0.0.1", "localhost", "[::ffff:127.0.0.1]"}) {
    ClientLimits limits = generous();
    limits.public_only = true;
    TestClient client("http://" + std::string(host) + ":" + std::to_string(server.port()), limits);
    const Exchanged result = client.get();
    EXPECT_EQ(result.failure.trouble, Trouble::address_refused) << result.failure.detail;
    EXPECT_FALSE(result.failure.sent);
  }
}

TEST(Url, IsParsedIntoItsParts) {
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
