// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// Handlers that are unreachable, have the wrong certificate or violate HTTP. Each case has a
// defined outcome, which is recorded as an attempt.
#include "deliver/story.hpp"
#include "http/tls_server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

namespace hapax::test {
namespace {

using testing::ElementsAre;

const std::string kOnce = "retry = []\nbreaker = false\n";

// Sends one event to `url` and returns the attempts of its delivery.
std::vector<std::string> attempts_at(const std::string& url, const std::string& more = "",
                                     const std::vector<std::string>& variables = {}) {
  const Story story(push_config({"a"}, destination("a", url, kOnce + more)), variables);
  const std::string event = story.send("evt_1");
  const auto ended = [&] {
    const std::string status = text(story.delivery(event, "a"), "status");
    return status == "dead" || status == "completed";
  };
  // Without a name server it takes long until a lookup fails.
  EXPECT_TRUE(eventually(ended, std::chrono::minutes(5))) << story.serve.log();
  return story.attempts(event);
}

// The same for a handler that responds with exactly these bytes, then closes or stays silent.
std::vector<std::string> attempts_with(const std::string& bytes, bool closes,
                                       const std::string& more = "") {
  Handler handler([&](int fd, const ReceivedRequest&) {
    write_text(fd, bytes);
    if (!closes) wait_for_end(fd);
    return false;
  });
  return attempts_at(handler.url(), more);
}

TEST(BadHandler, AHostThatDoesNotResolve) {
  EXPECT_THAT(attempts_at("http://no-such-host.invalid/x"), ElementsAre("dead  unresolved"));
}

TEST(BadHandler, AConnectionRefused) {
  std::string url;
  {
    Handler handler([](int, const ReceivedRequest&) { return false; });
    url = handler.url();
  }
  EXPECT_THAT(attempts_at(url), ElementsAre("dead  refused"));
}

TEST(BadHandler, ACertificateThatDoesNotVerify) {
  const Certificate certificate("localhost", "127.0.0.1");
  const RawServer server([&](int fd, int) { serve_tls(fd, certificate, answer_of(200)); });
  const std::string url = "https://127.0.0.1:" + std::to_string(server.port()) + "/x";
  EXPECT_THAT(attempts_at(url), ElementsAre("dead  certificate"));
}

TEST(BadHandler, ATrustedCertificateIsAccepted) {
  const TempDir directory;
  const Certificate certificate("localhost", "127.0.0.1");
  const std::string file = certificate.write_to(directory.file("ca.pem"));
  const RawServer server([&](int fd, int) { serve_tls(fd, certificate, answer_of(200)); });
  const std::string url = "https://127.0.0.1:" + std::to_string(server.port()) + "/x";
  EXPECT_THAT(attempts_at(url, "", {"SSL_CERT_FILE=" + file}), ElementsAre("completed 200 "));
}

TEST(BadHandler, NoResponse) {
  EXPECT_THAT(attempts_with("", false, "timeout = '1s'\n"), ElementsAre("dead  timed-out"));
  EXPECT_THAT(attempts_with("", true), ElementsAre("dead  closed"));
  EXPECT_THAT(attempts_with("HTTP/1.1 20", true), ElementsAre("dead  closed"));
}

TEST(BadHandler, ABodyThatNeverEndsAffectsNoOtherDelivery) {
  EXPECT_THAT(attempts_with("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nab", false),
              ElementsAre("completed 200 "));
  EXPECT_THAT(attempts_with("HTTP/1.1 500 No\r\nContent-Length: 10\r\n\r\nab", false),
              ElementsAre("dead 500 status"));
}

TEST(BadHandler, AHeadThatNeverEndsIsRejected) {
  std::atomic<bool> over = false;
  Handler handler([&](int fd, const ReceivedRequest&) {
    write_text(fd, "HTTP/1.1 200 OK\r\n");
    const std::string line = "X-More: " + std::string(1000, 'x') + "\r\n";
    for (int i = 0; i < 1000 && !over; ++i) write_text(fd, line);
    return false;
  });
  EXPECT_THAT(attempts_at(handler.url()), ElementsAre("dead  too-large"));
  over = true;
}

TEST(BadHandler, AHundredMegabytesAreNotRead) {
  std::atomic<std::size_t> taken = 0;
  Handler handler([&](int fd, const ReceivedRequest&) {
    // The first bytes of the body arrive with the head; the rest is read for at most one second.
    write_text(fd, "HTTP/1.1 500 No\r\nContent-Length: 104857600\r\n\r\n" + std::string(4096, 'x'));
    const std::string block(64 * 1024, 'x');
    for (int i = 0; i < 1600; ++i) {
      if (send(fd, block.data(), block.size(), MSG_NOSIGNAL) <= 0) break;
      taken += block.size();
    }
    return false;
  });
  const Story story(push_config({"a"}, destination("a", handler.url(), kOnce)));
  const std::string event = story.send("evt_1");
  ASSERT_TRUE(story.becomes(event, "a", "dead"));
  EXPECT_EQ(text(story.event(event).at("attempts").at(0), "excerpt"), std::string(1024, 'x'));
  EXPECT_LT(taken, std::size_t{50} * 1024 * 1024);  // the capacity of the socket buffers
}

TEST(BadHandler, InvalidHttp) {
  for (const char* bytes :
       {"SSH-2.0-OpenSSH_9.2\r\n\r\n", "HTTP/1.1 abc OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1x\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n"}) {
    EXPECT_THAT(attempts_with(bytes, true), ElementsAre("dead  malformed")) << bytes;
  }
}

TEST(BadHandler, AnInvalidBodyDoesNotChangeTheOutcome) {
  EXPECT_THAT(attempts_with("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz", true),
              ElementsAre("completed 200 "));
}

TEST(BadHandler, PrivateAddressesAreRejectedWhenConfigured) {
  Handler handler([](int fd, const ReceivedRequest&) { return reply(fd, 200); });
  const std::string url = "http://localhost:" + std::to_string(handler.port()) + "/x";
  EXPECT_THAT(attempts_at(url, "allow_private = false\n"), ElementsAre("dead  address-refused"));
  EXPECT_THAT(attempts_at("http://169.254.169.254/latest", "allow_private = false\n"),
              ElementsAre("dead  address-refused"));
  EXPECT_THAT(attempts_at("http://[::ffff:10.0.0.1]/", "allow_private = false\n"),
              ElementsAre("dead  address-refused"));
  EXPECT_EQ(handler.count(), 0U);
  EXPECT_THAT(attempts_at(url), ElementsAre("completed 200 "));
}

// The handler closes every connection after its response, without `Connection: close`.
TEST(BadHandler, AClosedIdleConnectionCostsNoAttempt) {
  std::atomic<int> closed = 0;
  Handler handler([&](int fd, const ReceivedRequest&) {
    reply(fd, 200);
    EXPECT_TRUE(end_sending(fd));
    ++closed;
    return false;
  });
  const Story story(
      push_config({"a"}, destination("a", handler.url(), kOnce + "concurrency = 1\n")));
  for (int i = 0; i < 20; ++i) {
    const std::string event = story.send("evt_" + std::to_string(i));
    ASSERT_TRUE(story.becomes(event, "a", "completed"));
    ASSERT_TRUE(eventually([&] { return closed > i; }));
  }
  EXPECT_EQ(handler.count(), 20U);
}

TEST(BadHandler, InterimResponsesAreSkipped) {
  EXPECT_THAT(
      attempts_with(
          "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nA: b\r\n\r\n" + answer_of(201), true),
      ElementsAre("completed 201 "));
}

}  // namespace
}  // namespace hapax::test
