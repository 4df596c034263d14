// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// An idempotent handler that fails at random, and a server that is killed repeatedly: every event
// takes effect exactly once at each destination, in order per order key.
#include "deliver/story.hpp"
#include "support/postgres.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <thread>

namespace hapax::test {
namespace {

constexpr int kEvents = 20'000;
constexpr int kKills = 20;
constexpr int kSenders = 4;
constexpr int kLanes = 8;  // per sender
constexpr std::chrono::minutes kGuard{10};
const std::vector<std::string> kDestinations{"a", "b", "c"};

// Applies the effect of a request once per idempotency key, but fails or breaks off many responses.
class FlakyHandler {
 public:
  explicit FlakyHandler(std::uint64_t seed) : random_(seed) {}

  bool answer(int fd, const ReceivedRequest& received) {
    switch (random_.below(20)) {
      case 0:
        return reply(fd, 500, "not now");
      case 1:
        return reply(fd, 429, "",
                     random_.below(8) == 0 ? "Retry-After: 1\r\n" : "Retry-After: 0\r\n");
      case 2:
        return reset(fd);
      case 3:
        apply(received);
        return reset(fd);
      case 4:
        apply(received);
        return reply(fd, 503, "done, but who knows");
      case 5:  // closes within the head
        apply(received);
        write_text(fd, "HTTP/1.1 20");
        return false;
      case 6:  // an incomplete body
        apply(received);
        write_text(fd, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
        if (random_.below(4) == 0) wait_for_end(fd);
        return false;
      case 7:  // no response before the timeout
        if (random_.below(4) != 0 || silences_.fetch_sub(1) <= 0) break;
        apply(received);
        wait_for_end(fd);
        return false;
      default:
        break;
    }
    apply(received);
    return reply(fd, 200, "done");
  }

  // The effects at a destination, in order.
  std::vector<std::string> effects(const std::string& destination) const {
    const std::lock_guard lock(mutex_);
    const auto found = effects_.find("POST /" + destination + " HTTP/1.1");
    return found == effects_.end() ? std::vector<std::string>() : found->second;
  }
  std::size_t repeats() const { return repeats_; }

 private:
  void apply(const ReceivedRequest& received) {
    const std::lock_guard lock(mutex_);
    if (!keys_.insert(received.header("Idempotency-Key")).second) {
      ++repeats_;
      return;
    }
    effects_[received.line()].push_back(received.body);
  }

  static bool reset(int fd) {
    const linger at_once{1, 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    return false;
  }

  SeededRandom random_;
  std::atomic<int> silences_ = rounds(300);  // limited, because each lasts for a whole timeout
  mutable std::mutex mutex_;
  std::set<std::string> keys_;
  std::map<std::string, std::vector<std::string>> effects_;
  std::atomic<std::size_t> repeats_ = 0;
};

std::string lane_of(int sender, int number) {
  return std::to_string(sender) + "-" + std::to_string(number % kLanes);
}

std::string body_of(int sender, int number) {
  return R"({"k":")" + lane_of(sender, number) + R"(","n":)" + std::to_string(number) + "}";
}

class Killing {
 public:
  // `second`: runs another node on the same database; the two are killed alternately.
  explicit Killing(const std::string& store_url, bool second = false)
      : flaky_(42),
        handler_(
            [this](int fd, const ReceivedRequest& received) { return flaky_.answer(fd, received); },
            false),
        story_(config(store_url)) {
    nodes_.push_back(&story_.serve);
    if (second) nodes_.push_back(&second_.emplace(config(store_url)));
    ports_ = std::vector<std::atomic<int>>(nodes_.size());
    for (std::size_t i = 0; i < nodes_.size(); ++i) ports_[i] = nodes_[i]->port();
  }

  void run(int events, int kills) {
    const int each = events / kSenders;
    std::vector<std::thread> senders;
    for (int i = 0; i < kSenders; ++i) senders.emplace_back([this, i, each] { send(i, each); });
    for (int kill = 1; kill <= kills; ++kill) {
      const int enough = each * kSenders * kill / (kills + 1);
      EXPECT_TRUE(eventually([&] { return acknowledged_ >= enough; }, kGuard));
      const std::size_t node = static_cast<std::size_t>(kill) % nodes_.size();
      EXPECT_TRUE(nodes_[node]->kill_it());
      nodes_[node]->start();
      ports_[node] = nodes_[node]->port();
    }
    for (std::thread& sender : senders) sender.join();
    EXPECT_TRUE(eventually([&] { return is_drained(); }, 2 * kGuard))
        << boost::json::serialize(story_.get("/v1/destinations"));
    for (const std::string& to : kDestinations) check(flaky_.effects(to), each);
    for (const Serve* node : nodes_) EXPECT_TRUE(makes_attempts(*node));
    std::cout << each * kSenders << " events at " << kDestinations.size() << " destinations, "
              << kills << " kills, " << flaky_.repeats() << " repeated calls without effect\n";
  }

 private:
  std::string config(const std::string& store_url) const {
    std::string retry;
    for (int i = 0; i < 100; ++i) retry += (i == 0 ? "'20ms'" : ", '20ms'");
    // 100 attempts allow for many timeouts on a busy machine.
    const std::string often = "timeout = '3s'\nconcurrency = 32\nretry = [" + retry + "]\n";
    std::string destinations;
    for (const std::string& to : kDestinations) {
      const std::string breaker =
          to == "a" ? "breaker = { pause = '20ms', max_pause = '100ms' }\n" : "breaker = false\n";
      destinations += destination(to, handler_.url("/" + to), often + breaker);
    }
    return push_config(kDestinations, destinations, "order_key = 'json:/k'\n", store_url);
  }

  // Sends each event until it is acknowledged before the next one, so the order of a lane is known.
  void send(int sender, int count) {
    const std::size_t node = static_cast<std::size_t>(sender) % nodes_.size();
    auto client = std::make_unique<RawClient>(ports_[node]);
    for (int i = 0; i < count; ++i) {
      const std::string id = std::to_string(sender) + "." + std::to_string(i);
      const auto is_accepted = [&] {
        if (story_.serve.post(*client, id, body_of(sender, i)).status == 200) return true;
        client = std::make_unique<RawClient>(ports_[node]);
        return false;
      };
      ASSERT_TRUE(eventually(is_accepted, kGuard)) << id;
      ++acknowledged_;
    }
  }

  bool is_drained() const {
    return std::all_of(kDestinations.begin(), kDestinations.end(), [&](const std::string& to) {
      const boost::json::value shown = story_.destination(to);
      EXPECT_EQ(number(shown, "dead"), 0);
      return number(shown, "pending") == 0 && number(shown, "leased") == 0;
    });
  }

  // Whether the node has made attempts since its last start. Sends it more events until it has.
  static bool makes_attempts(const Serve& node) {
    int more = 0;
    return eventually([&] {
      const auto has_attempts = testing::ContainsRegex(R"(hapax_attempts_total\{[^}]*\} [1-9])");
      if (testing::Value(node.ask("/metrics").body, has_attempts)) return true;
      RawClient client(node.port());
      EXPECT_EQ(node.post(client, "more-" + std::to_string(++more), R"({"k":"more"})").status, 200);
      return false;
    });
  }

  static void check(const std::vector<std::string>& effects, int each) {
    std::map<std::string, std::vector<std::string>> lanes;
    for (const std::string& body : effects) lanes[body.substr(0, body.find(','))].push_back(body);
    EXPECT_EQ(effects.size(), static_cast<std::size_t>(each) * kSenders);
    for (int sender = 0; sender < kSenders; ++sender) {
      for (int lane = 0; lane < kLanes; ++lane) {
        std::vector<std::string> expected;
        for (int n = lane; n < each; n += kLanes) expected.push_back(body_of(sender, n));
        EXPECT_EQ(lanes[R"({"k":")" + lane_of(sender, lane) + "\""], expected);
      }
    }
  }

  FlakyHandler flaky_;
  Handler handler_;
  Story story_;
  std::optional<Serve> second_;
  std::vector<Serve*> nodes_;
  std::vector<std::atomic<int>> ports_;  // one per node
  std::atomic<int> acknowledged_ = 0;
};

TEST(Kill9Deliver, EveryEventTakesEffectOnceAndInOrderOnSqlite) {
  Killing killing("sqlite:hapax.db");
  killing.run(rounds(kEvents), std::max(2, rounds(kKills)));
}

TEST(Kill9Deliver, EveryEventTakesEffectOnceAndInOrderOnPostgres) {
  const PostgresDatabase database;
  Killing killing(database.url());
  killing.run(rounds(kEvents), std::max(2, rounds(kKills)));
}

TEST(Kill9Deliver, TwoNodesOnPostgresShareTheWork) {
  const PostgresDatabase database;
  Killing killing(database.url(), true);
  killing.run(rounds(kEvents), std::max(2, rounds(kKills)));
}

}  // namespace
}  // namespace hapax::test
