// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "gateway/serve.hpp"
#include "support/eventually.hpp"
#include "support/sanitizer.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <deque>
#include <iostream>
#include <vector>

// Clients that use up connections, time or memory.
namespace hapax::test {

namespace {

constexpr std::string_view kStart = "POST /in/demo HTTP/1.1\r\nHost: a\r\n";

std::size_t raise_open_files() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

int connections(const Serve& serve) {
  const std::string text = serve.ask("/metrics").body;
  const std::size_t at = text.find("\nhapax_connections ");
  return at == std::string::npos ? -1 : std::stoi(text.substr(at + 19));
}

// The gauge is set once a second.
template <class Holds>
bool wait_for_connections(const Serve& serve, Holds holds) {
  return eventually([&] { return holds(connections(serve)); }, std::chrono::minutes(5));
}

void expect_served(const Serve& serve, const char* from, const std::string& id) {
  RawClient client(serve.port(), from);
  EXPECT_EQ(serve.post(client, id, "{}").status, 200) << id;
}

// Whether the server has closed the connection. Reads everything that was sent before.
bool is_cut_off(RawClient& client) {
  // All earlier data must be read first, which takes minutes with a receive window of 1 KiB.
  const int large = 4 << 20;
  setsockopt(client.handle(), SOL_SOCKET, SO_RCVBUF, &large, sizeof large);
  pollfd wanted{.fd = client.handle(), .events = POLLIN, .revents = 0};
  for (;;) {
    if (poll(&wanted, 1, 60'000) != 1) return false;
    std::string rest(65536, ' ');
    if (recv(client.handle(), rest.data(), rest.size(), MSG_DONTWAIT) <= 0) return true;
  }
}

}  // namespace

TEST(FloodTest, TenThousandIdleConnectionsUseLittleMemory) {
  const std::size_t room = raise_open_files();
  const std::size_t count = std::min<std::size_t>(is_sanitized() ? 1000 : 10'000, room - 200);
  Serve serve(demo_config("sqlite:hapax.db"));
  std::deque<RawClient> idle;
  for (std::size_t i = 0; i < count; ++i) {
    idle.emplace_back(serve.port());
    ASSERT_TRUE(idle.back().connected()) << i;
    if (i % 2 == 0) continue;  // half of the connections send an event first
    ASSERT_EQ(serve.post(idle.back(), "idle-" + std::to_string(i), "{}").status, 200) << i;
  }
  ASSERT_TRUE(wait_for_connections(serve, [&](int now) { return now >= static_cast<int>(count); }));
  for (int i = 0; i < 100; ++i) expect_served(serve, nullptr, "fresh-" + std::to_string(i));
  EXPECT_EQ(serve.post(idle[count / 2], "late", "{}").status, 200);
  const std::size_t resident = serve.resident();
  std::cout << "  " << count << " idle connections: " << resident / 1'000'000 << " MB\n";
  if (!is_sanitized()) {
    EXPECT_LT(resident, 200'000'000U);
  }
}

// The other requests are sent in one piece and no connection is idle, so even on a busy machine
// only the slow senders are disconnected.
TEST(FloodTest, SlowSendersAreDisconnectedAndServiceContinues) {
  Serve serve(demo_config("sqlite:hapax.db",
                          "idle_timeout = \"10m\"\nheader_timeout = \"1s\"\nbody_timeout = \"1s\"\n"
                          "write_timeout = \"10m\"\n"));
  const int count = std::max(20, rounds(1000));
  std::deque<RawClient> by_head;
  std::deque<RawClient> by_body;
  for (int i = 0; i < count; ++i) {
    ASSERT_TRUE(by_head.emplace_back(serve.port()).send(kStart));
    ASSERT_TRUE(by_body.emplace_back(serve.port())
                    .send(std::string(kStart) + "Content-Length: 100\r\n\r\n{"));
    if (i % 10 == 0) expect_served(serve, nullptr, "between-" + std::to_string(i));
  }
  expect_served(serve, nullptr, "after");
  for (RawClient& each : by_head) EXPECT_EQ(each.receive().status, 408);
  for (RawClient& each : by_body) EXPECT_EQ(each.receive().status, 408);
  EXPECT_TRUE(wait_for_connections(serve, [](int now) { return now <= 2; }));
  std::cout << "  " << 2 * count << " slow senders: " << serve.resident() / 1'000'000 << " MB\n";
}

TEST(FloodTest, SlowReadersAreDisconnectedAndServiceContinues) {
  Serve serve(demo_config("sqlite:hapax.db",
                          "idle_timeout = \"5s\"\nheader_timeout = \"1s\"\nbody_timeout = \"1s\"\n"
                          "write_timeout = \"1s\"\n"));
  // On a busy machine a new connection may time out before its request; the sender reconnects.
  const auto expect_served_eventually = [&](const std::string& id) {
    EXPECT_TRUE(eventually([&] {
      RawClient client(serve.port());
      return serve.post(client, id, "{}").status == 200;
    })) << id;
  };
  const int count = std::max(20, rounds(1000));
  std::deque<RawClient> by_reading;
  std::string many;
  while (many.size() < 60'000)
    many += "POST /in/nobody HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n";
  for (int i = 0; i < count; ++i) {
    RawClient& reader = by_reading.emplace_back(serve.port());
    const int small = 1024;
    setsockopt(reader.handle(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    // Send until it would block: the responses fill the socket buffers, and the server stops
    // reading.
    while (::send(reader.handle(), many.data(), many.size(), MSG_NOSIGNAL | MSG_DONTWAIT) > 0) {
    }
    if (i % 10 == 0) expect_served_eventually("between-" + std::to_string(i));
  }
  expect_served_eventually("after");
  // Before is_cut_off(), which reads from the connections.
  EXPECT_TRUE(wait_for_connections(serve, [](int now) { return now <= 2; }));
  for (RawClient& each : by_reading) EXPECT_TRUE(is_cut_off(each));
  std::cout << "  " << count << " slow readers: " << serve.resident() / 1'000'000 << " MB\n";
}

TEST(FloodTest, AFloodFromOneAddressDoesNotAffectOthers) {
  raise_open_files();
  Serve serve(demo_config("sqlite:hapax.db", "max_connections = 400\n" + kGenerousServer));
  std::deque<RawClient> flood;
  for (int i = 0; i < 1000; ++i) {
    RawClient& client = flood.emplace_back(serve.port(), "127.0.0.2");
    if (client.connected()) client.send(kStart);
  }
  ASSERT_TRUE(wait_for_connections(serve, [](int now) { return now >= 300; }));
  for (int i = 0; i < 20; ++i) expect_served(serve, "127.0.0.3", "other-" + std::to_string(i));
  RawClient one_more(serve.port(), "127.0.0.2");
  EXPECT_EQ(serve.post(one_more, "more", "{}").status, 0) << "the limit of an address is 300";
  flood.clear();
  ASSERT_TRUE(wait_for_connections(serve, [](int now) { return now <= 2; }));
  expect_served(serve, "127.0.0.2", "again");
  EXPECT_NE(serve.ask("/metrics").body.find("hapax_connections_refused_total 7"), std::string::npos)
      << serve.ask("/metrics").body;
}

// An orchestrator kills a node whose health checks fail.
TEST(FloodTest, AFloodOfTheAdminListenerDoesNotAffectProbes) {
  constexpr std::size_t kMore = 1200;  // more than the listener's limit
  if (raise_open_files() < 2 * kMore) GTEST_SKIP() << "the limit of open files is too low";
  const Serve serve(demo_config("sqlite:hapax.db"));
  std::deque<RawClient> idle;
  for (std::size_t i = 0; i < kMore; ++i) idle.emplace_back(serve.admin_port());
  for (const char* path : {"/healthz", "/readyz"}) {
    RawClient probe(serve.admin_port(), "127.0.0.2");
    EXPECT_EQ(probe.get(path).status, 200) << path;
  }
  for (RawClient& each : idle) EXPECT_TRUE(is_cut_off(each)) << "without a token";
  EXPECT_EQ(RawClient(serve.admin_port()).get("/healthz").status, 200);
}

// Memory of a body counts while the body is received; one address cannot use all of it.
TEST(FloodTest, LargeIncompleteBodiesLeaveMemoryForOthers) {
  Serve serve(demo_config("sqlite:hapax.db"));
  const std::string start = std::string(kStart) + "Content-Length: 1000000\r\n\r\n";
  const std::string most(900'000, 'x');
  std::deque<RawClient> flood;
  std::vector<pollfd> answered;
  for (int i = 0; i < 250; ++i) {
    RawClient& client = flood.emplace_back(serve.port(), "127.0.0.2");
    client.send(start);
    client.send(most);
    answered.push_back({.fd = client.handle(), .events = POLLIN, .revents = 0});
  }
  const int refused = poll(answered.data(), answered.size(), 300'000);
  EXPECT_GT(refused, 0) << "the limit of an address is 192 MiB";
  std::cout << "  " << refused << " rejected, " << serve.resident() / 1'000'000 << " MB\n";
  RawClient client(serve.port(), "127.0.0.3");
  const std::string body = "{\"note\":\"" + std::string(900'000, 'n') + "\"}";
  EXPECT_EQ(serve.post(client, "large", body).status, 200) << serve.log();
  if (!is_sanitized()) {
    EXPECT_LT(serve.resident(), 600'000'000U);
  }
}

// accept() fails and is retried after a pause, not at once.
TEST(FloodTest, AServerWithoutDescriptorsRetriesAccept) {
  if (is_sanitized()) GTEST_SKIP() << "UBSan needs a descriptor for its type checks";
  Serve serve(demo_config("sqlite:hapax.db"));
  expect_served(serve, nullptr, "before");
  rlimit before{};
  ASSERT_EQ(prlimit(serve.pid(), RLIMIT_NOFILE, nullptr, &before), 0);
  const rlimit none{.rlim_cur = 8, .rlim_max = before.rlim_max};
  ASSERT_EQ(prlimit(serve.pid(), RLIMIT_NOFILE, &none, nullptr), 0);
  std::deque<RawClient> waiting;
  for (int i = 0; i < 20; ++i) waiting.emplace_back(serve.port());
  rusage used{};
  pollfd wanted{.fd = waiting.front().handle(), .events = POLLIN, .revents = 0};
  // There is no event to wait for. A server that closed the connection would do so at once.
  EXPECT_EQ(poll(&wanted, 1, 500), 0) << "connections must stay in the backlog";
  ASSERT_EQ(prlimit(serve.pid(), RLIMIT_NOFILE, &before, nullptr), 0);
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    EXPECT_EQ(serve.post(waiting[i], "later-" + std::to_string(i), "{}").status, 200);
  }
  EXPECT_EQ(serve.stop(), 0);
  getrusage(RUSAGE_CHILDREN, &used);
  std::cout << "  "
            << used.ru_utime.tv_sec * 1000 + used.ru_utime.tv_usec / 1000 +
                   used.ru_stime.tv_sec * 1000 + used.ru_stime.tv_usec / 1000
            << " ms of CPU in all\n";
}

}  // namespace hapax::test
