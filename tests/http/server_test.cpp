// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "http/server.hpp"

#include "http/generous.hpp"
#include "model/field.hpp"
#include "support/eventually.hpp"
#include "support/http.hpp"

#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

// The server on a real socket: complete, split, invalid and slow requests, and shutdown.
namespace hapax::http {

namespace {

using std::chrono::milliseconds;
using test::eventually;
using test::generous_limits;
using test::HttpAnswer;
using test::RawClient;

// Counters shared by the handlers of all threads.
struct Observed {
  void count_head() {
    const std::lock_guard lock(mutex);
    ++heads;
    changed.notify_all();
  }
  [[nodiscard]] bool wait_for_heads(int count) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::minutes(1), [&] { return heads >= count; });
  }

  std::atomic<int> refusals = 0;
  std::mutex mutex;
  std::condition_variable changed;
  int heads = 0;
};

// What Echo keeps from the headers for its response.
struct EchoContext : RequestContext {
  explicit EchoContext(std::string_view its_target) : target(its_target) {}
  std::string target;
};

// Echoes method, target, body and the values of X-Echo.
class Echo final : public Handler {
 public:
  explicit Echo(Observed& seen) : seen_(seen) {}

  std::variant<ReadBody, Reply> on_headers(const Head& head, std::string_view) override {
    seen_.count_head();
    if (head.path() == "/gone") return problem(Refusal::source_unknown);
    return ReadBody{1000, std::make_shared<const EchoContext>(head.target)};
  }
  Task<Reply> answer(const Incoming& request) override {
    Reply reply{.status = 200, .content_type = "text/plain"};
    EXPECT_EQ(static_cast<const EchoContext&>(*request.context).target, request.head.target);
    if (request.head.path() == "/known") request.probe->mark_trusted();
    reply.body = std::string(request.head.method) + " " + std::string(request.head.target) + " " +
                 std::string(request.body);
    for (const Header& each : request.head.headers) {
      if (equal_ignoring_case(each.name, "X-Echo")) reply.body += "|" + std::string(each.value);
    }
    co_return reply;
  }
  void refused(Refusal, std::string_view) override { ++seen_.refusals; }

 private:
  Observed& seen_;
};

class ServerTest : public testing::Test {
 protected:
  void start(const Limits& limits = generous_limits()) {
    const Result<std::uint16_t> port = server_.listen(
        {"127.0.0.1", 0}, {}, limits, [&](std::size_t) { return std::make_unique<Echo>(seen_); });
    ASSERT_TRUE(port);
    port_ = *port;
    server_.start();
  }

  std::unique_ptr<Clock> clock_ = make_system_clock();
  Observed seen_;
  Server server_{*clock_, 2};
  int port_ = 0;
};

std::string post(const std::string& target, const std::string& body,
                 const std::string& lines = "") {
  return "POST " + target + " HTTP/1.1\r\nHost: a\r\n" + lines +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

TEST_F(ServerTest, RequestsOfOneConnectionAreAnsweredInOrder) {
  start();
  RawClient client(port_);
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(client.send(post("/a", "body " + std::to_string(i))));
    EXPECT_EQ(client.receive().body, "POST /a body " + std::to_string(i));
  }
  std::string pipelined;
  for (int i = 0; i < 50; ++i) pipelined += post("/p", std::to_string(i));
  ASSERT_TRUE(client.send(pipelined));
  for (int i = 0; i < 50; ++i) EXPECT_EQ(client.receive().body, "POST /p " + std::to_string(i));
}

TEST_F(ServerTest, ARequestMayArriveByteByByte) {
  start();
  RawClient client(port_);
  for (const char byte : post("/a", "hello", "X-Echo: x\r\n")) ASSERT_TRUE(client.send({&byte, 1}));
  EXPECT_EQ(client.receive().body, "POST /a hello|x");
}

// The buffer is reallocated while the body is received.
TEST_F(ServerTest, HeadersStayValidWhileTheBodyIsReceived) {
  start();
  RawClient client(port_);
  const std::string head = "POST /a HTTP/1.1\r\nHost: a\r\nX-Echo: " + std::string(3900, 'e') +
                           "\r\nContent-Length: 1000\r\n\r\n";
  ASSERT_TRUE(client.send(head));
  ASSERT_TRUE(client.send(std::string(1000, 'b')));
  EXPECT_EQ(client.receive().body,
            "POST /a " + std::string(1000, 'b') + "|" + std::string(3900, 'e'));
}

TEST_F(ServerTest, ChunkedBodiesAreAssembled) {
  start();
  RawClient client(port_);
  const std::string head = "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  ASSERT_TRUE(client.send(head + "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n" + post("/b", "next")));
  EXPECT_EQ(client.receive().body, "POST /a abcde");
  EXPECT_EQ(client.receive().body, "POST /b next");
}

TEST_F(ServerTest, ABodyOverTheLimitIsRejectedUnread) {
  start();
  for (const std::string& bytes :
       {post("/a", std::string(1001, 'x')),
        std::string("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n"),
        std::string("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 18446744073709551615\r\n\r\n"),
        "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n" +
            std::string(1001, 'x') + "\r\n0\r\n\r\n",
        std::string("POST /a HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: "
                    "1001\r\n\r\n")}) {
    RawClient client(port_);
    ASSERT_TRUE(client.send(bytes));
    const HttpAnswer answer = client.receive();
    EXPECT_EQ(answer.status, 413);
    EXPECT_EQ(answer.problem(), "body-too-large");
    EXPECT_EQ(answer.header("Connection"), "close");
    EXPECT_TRUE(client.closed_by_peer());
  }
  RawClient client(port_);
  ASSERT_TRUE(client.send(post("/a", std::string(1000, 'x'))));
  EXPECT_EQ(client.receive().status, 200);
}

TEST_F(ServerTest, ContinueIsSentOnlyIfTheBodyIsAccepted) {
  start();
  RawClient client(port_);
  ASSERT_TRUE(client.send(
      "POST /a HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n"));
  // receive() skips the 100 response. The client sends the body without waiting for it.
  ASSERT_TRUE(client.send("hello"));
  EXPECT_EQ(client.receive().body, "POST /a hello");
  ASSERT_TRUE(client.send(
      "POST /gone HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n"));
  const std::string rest = client.receive_all();
  EXPECT_EQ(rest.find("100 Continue"), std::string::npos) << rest;
  EXPECT_NE(rest.find("404 Not Found"), std::string::npos) << rest;
}

TEST_F(ServerTest, AmbiguousFramingIsAnsweredAndTheConnectionCloses) {
  start();
  for (const std::string& bytes : {
           post("/a", "x", "Content-Length: 1\r\n"),
           post("/a", "x", "Transfer-Encoding: chunked\r\n"),
           std::string("POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n"),
           std::string("POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
           post("http://a/a", "x"),
           post("/a", "x", "A: b\r\n c\r\n"),
           post("/a", "x", std::string("A: \0\r\n", 6)),
           std::string("\x16\x03\x01\x02\r\n\r\n"),
       }) {
    RawClient client(port_);
    ASSERT_TRUE(client.send(bytes + post("/smuggled", "y")));
    const HttpAnswer answer = client.receive();
    EXPECT_EQ(answer.status, 400) << bytes;
    EXPECT_EQ(answer.problem(), "framing");
    EXPECT_TRUE(client.closed_by_peer()) << bytes;
  }
  EXPECT_EQ(seen_.refusals, 8);
}

TEST_F(ServerTest, HeadersOverTheLimitAreRejected) {
  start();
  std::string many;
  for (int i = 0; i < 200; ++i) many += "A: b\r\n";
  for (const std::string& bytes :
       {post("/a", "x", many), post("/a", "x", "A: " + std::string(40'000, 'a') + "\r\n"),
        post("/" + std::string(9000, 'a'), "x"), std::string(100'000, 'a')}) {
    RawClient client(port_);
    client.send(bytes);
    const HttpAnswer answer = client.receive();
    EXPECT_EQ(answer.status, 431);
    EXPECT_EQ(answer.problem(), "headers-too-large");
  }
}

// Each timeout is tested in a server whose other timeouts are long, so that only this one expires.
TEST_F(ServerTest, ASlowHeadTimesOut) {
  Limits limits = generous_limits();
  limits.head_time = milliseconds(300);
  start(limits);
  RawClient client(port_);
  ASSERT_TRUE(client.send("POST /a HTTP/1.1\r\nHo"));
  const HttpAnswer answer = client.receive();
  EXPECT_EQ(answer.status, 408);
  EXPECT_EQ(answer.problem(), "request-timeout");
  EXPECT_TRUE(client.closed_by_peer());
}

TEST_F(ServerTest, ASlowBodyTimesOut) {
  Limits limits = generous_limits();
  limits.request_time = milliseconds(300);
  start(limits);
  RawClient client(port_);
  ASSERT_TRUE(client.send("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhal"));
  EXPECT_EQ(client.receive().status, 408);
  EXPECT_TRUE(client.closed_by_peer());
}

TEST_F(ServerTest, AnIdleConnectionIsClosedWithoutAResponse) {
  Limits limits = generous_limits();
  limits.idle = milliseconds(300);
  start(limits);
  RawClient client(port_);
  EXPECT_TRUE(client.closed_by_peer());
}

// Unauthenticated peers must not hold connections that others need.
TEST_F(ServerTest, UnauthenticatedConnectionsHaveAShorterIdleTimeout) {
  Limits limits = generous_limits();
  limits.stranger_idle = milliseconds(300);
  start(limits);
  RawClient silent(port_);
  RawClient stranger(port_);
  RawClient known(port_);
  ASSERT_TRUE(known.send(post("/known", "x")));
  EXPECT_EQ(known.receive().status, 200);
  ASSERT_TRUE(stranger.send(post("/a", "x")));
  EXPECT_EQ(stranger.receive().status, 200);
  EXPECT_TRUE(silent.closed_by_peer());
  EXPECT_TRUE(stranger.closed_by_peer());
  ASSERT_TRUE(known.send(post("/a", "x")));
  EXPECT_EQ(known.receive().status, 200);
}

// The write of the interim response has its own deadline; it must not replace that of the body.
TEST_F(ServerTest, ABodyTimesOutAfterContinue) {
  Limits limits = generous_limits();
  limits.request_time = milliseconds(300);
  start(limits);
  RawClient client(port_);
  ASSERT_TRUE(client.send(
      "POST /a HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 10\r\n\r\n"));
  EXPECT_EQ(client.receive().status, 408);
  EXPECT_TRUE(client.closed_by_peer());
}

TEST_F(ServerTest, Http10ClientsGetKeepAliveAndNoHttp11Syntax) {
  start();
  RawClient client(port_);
  const std::string stays = "POST /a HTTP/1.0\r\nConnection: keep-alive\r\n";
  ASSERT_TRUE(client.send(stays + "Content-Length: 1\r\n\r\nx"));
  const HttpAnswer answer = client.receive();
  EXPECT_EQ(answer.body, "POST /a x");
  EXPECT_EQ(answer.header("Connection"), "keep-alive");
  ASSERT_TRUE(client.send(stays + "Expect: 100-continue\r\nContent-Length: 1\r\n\r\n"));
  ASSERT_TRUE(client.send("x"));
  client.finish_sending();
  const std::string rest = client.receive_all();
  EXPECT_EQ(rest.find("100 Continue"), std::string::npos) << rest;
  EXPECT_NE(rest.find("200 OK"), std::string::npos) << rest;
  RawClient current(port_);
  ASSERT_TRUE(current.send(post("/a", "x")));
  EXPECT_EQ(current.receive().header("Connection"), "");
}

// A large body is written separately from its head.
TEST_F(ServerTest, LargeResponsesAreComplete) {
  start();
  RawClient client(port_);
  const std::string large(5000, 'e');
  std::string lines;
  for (int i = 0; i < 6; ++i) lines += "X-Echo: " + large + "\r\n";
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(client.send(post("/a", "x", lines) + post("/b", "y")));
    EXPECT_EQ(client.receive().body.size(), std::string("POST /a x").size() + 6 * 5001);
    EXPECT_EQ(client.receive().body, "POST /b y");
  }
}

// Received bytes do not extend a deadline, so a client that never stops sending is cut off too.
TEST_F(ServerTest, TricklingDoesNotExtendTheTimeout) {
  Limits limits = generous_limits();
  limits.head.bytes = 100'000'000;  // so that only the timeout ends the request
  limits.head_time = std::chrono::seconds(1);
  start(limits);
  RawClient client(port_);
  ASSERT_TRUE(client.send("POST /a HTTP/1.1\r\nA: "));
  pollfd answered{.fd = client.handle(), .events = POLLIN, .revents = 0};
  ASSERT_TRUE(eventually([&] { return !client.send("a") || poll(&answered, 1, 0) == 1; }));
  EXPECT_EQ(client.receive().status, 408);
}

TEST_F(ServerTest, ConnectionsOverTheLimitAreClosed) {
  Limits limits = generous_limits();
  limits.limiter.connections = limits.limiter.connections_per_address = 2;
  start(limits);
  RawClient first(port_);
  RawClient second(port_);
  ASSERT_TRUE(first.send(post("/a", "x")));
  ASSERT_TRUE(second.send(post("/a", "x")));
  EXPECT_EQ(first.receive().status, 200);
  EXPECT_EQ(second.receive().status, 200);
  RawClient third(port_);
  third.send(post("/a", "x"));
  EXPECT_EQ(third.receive().status, 0);
}

TEST_F(ServerTest, HeadHasNoBody) {
  start();
  RawClient client(port_);
  ASSERT_TRUE(client.send("HEAD /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
  const std::string all = client.receive_all();
  EXPECT_NE(all.find("Content-Length: 8"), std::string::npos) << all;
  EXPECT_EQ(all.substr(all.size() - 4), "\r\n\r\n");
}

TEST_F(ServerTest, AnEarlyResponseClosesOnlyIfABodyIsUnread) {
  start();
  RawClient client(port_);
  ASSERT_TRUE(client.send("GET /gone HTTP/1.1\r\nHost: a\r\n\r\n"));
  EXPECT_EQ(client.receive().status, 404);
  ASSERT_TRUE(client.send(post("/gone", "x")));
  EXPECT_EQ(client.receive().header("Connection"), "close");
  EXPECT_TRUE(client.closed_by_peer());
}

TEST_F(ServerTest, StoppingClosesIdleConnectionsAndDrainsTheRest) {
  start();
  RawClient idle(port_);
  RawClient half(port_);
  ASSERT_TRUE(idle.send(post("/a", "x")));
  EXPECT_EQ(idle.receive().status, 200);
  ASSERT_TRUE(half.send("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhal"));
  ASSERT_TRUE(seen_.wait_for_heads(2));  // the request has begun, so stop() waits for it
  std::thread stop([&] { server_.stop(test::kGenerous); });
  EXPECT_TRUE(idle.closed_by_peer());
  ASSERT_TRUE(half.send("lo"));
  const HttpAnswer answer = half.receive();
  EXPECT_EQ(answer.body, "POST /a hallo");
  EXPECT_TRUE(half.closed_by_peer());  // its thread may notice the stop after the response
  stop.join();
  EXPECT_FALSE(RawClient(port_).connected());
}

TEST_F(ServerTest, AnAddressInUseIsReported) {
  start();
  Server another(*clock_, 1);
  const auto again = another.listen({"127.0.0.1", static_cast<std::uint16_t>(port_)}, {}, {},
                                    [&](std::size_t) { return std::make_unique<Echo>(seen_); });
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code(), Code::misconfigured);
  EXPECT_NE(again.error().detail().find("127.0.0.1"), std::string::npos);
}

}  // namespace

}  // namespace hapax::http
