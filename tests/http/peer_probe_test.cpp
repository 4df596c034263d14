// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "http/generous.hpp"
#include "http/server.hpp"
#include "support/eventually.hpp"
#include "support/http.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>

#include <atomic>

// Clients that disconnect before they have received their response.
namespace hapax::http {
namespace {

struct Seen {
  std::atomic<int> waiting = 0;
  std::atomic<int> cut = 0;
  std::atomic<int> unsent = 0;
};

// /wait waits until the client disconnects; /large sends more than the socket buffers hold.
class Patient final : public Handler {
 public:
  explicit Patient(Seen& seen) : seen_(seen) {}

  std::variant<ReadBody, Reply> on_headers(const Head&, std::string_view) override {
    return ReadBody{1000};
  }
  Task<Reply> answer(const Incoming& request) override {
    const Executor executor = co_await boost::asio::this_coro::executor;
    ++seen_.waiting;
    while (request.head.path() == "/wait" && !request.probe->peer_closed()) {
      co_await boost::asio::post(executor, kUseTask);
    }
    if (request.head.path() == "/wait") ++seen_.cut;
    Reply reply{.status = 200, .content_type = "text/plain"};
    if (request.head.path() == "/large") reply.body.assign(std::size_t{64} << 20U, 'x');
    reply.unsent = [&seen = seen_] { ++seen.unsent; };
    co_return reply;
  }
  void refused(Refusal, std::string_view) override {}

 private:
  Seen& seen_;
};

class PeerProbeTest : public testing::Test {
 protected:
  PeerProbeTest() {
    port_ = server_
                .listen({"127.0.0.1", 0}, {}, test::generous_limits(),
                        [&](std::size_t) { return std::make_unique<Patient>(seen_); })
                .value();
    server_.start();
  }
  static void until(const std::atomic<int>& count, int wanted) {
    EXPECT_TRUE(test::eventually([&] { return count >= wanted; }));
  }

  std::unique_ptr<Clock> clock_ = make_system_clock();
  Seen seen_;
  Server server_{*clock_, 1};
  int port_ = 0;
};

const std::string kEnd = " HTTP/1.1\r\nHost: a\r\n\r\n";

TEST_F(PeerProbeTest, DetectsADisconnectedClient) {
  {
    test::RawClient client(port_);
    client.send("GET /wait" + kEnd);
    until(seen_.waiting, 1);
    EXPECT_EQ(seen_.cut, 0);
  }
  until(seen_.cut, 1);
}

TEST_F(PeerProbeTest, DetectsADisconnectBehindUnreadBytes) {
  {
    test::RawClient client(port_);
    client.send("GET /wait" + kEnd + "GET /next" + kEnd);
    until(seen_.waiting, 1);
    EXPECT_EQ(seen_.cut, 0) << "the client is connected and has pipelined another request";
  }
  until(seen_.cut, 1);
}

TEST_F(PeerProbeTest, ReportsAnUnsentResponse) {
  {
    test::RawClient client(port_);
    client.send("GET /large" + kEnd);
    until(seen_.waiting, 1);
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    setsockopt(client.handle(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  }
  until(seen_.unsent, 1);
  test::RawClient client(port_);
  client.send("GET /small" + kEnd);
  EXPECT_EQ(client.receive().status, 200);
  server_.stop(std::chrono::milliseconds(0));
  EXPECT_EQ(seen_.unsent, 1) << "called once, for the response that was not written";
}

}  // namespace
}  // namespace hapax::http
