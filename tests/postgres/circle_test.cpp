// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "postgres/inbox_node.hpp"
#include "postgres/witness.hpp"

#include <array>
#include <functional>
#include <optional>
#include <thread>

// Retention can remove a row that a batch has found and not yet locked. If the batch then went back
// for that row while holding locks on later rows, it would deadlock with a batch that locks in
// order.
namespace hapax::test {
namespace {

using namespace std::chrono_literals;

class CircleTest : public testing::Test {
 protected:
  // The first batch wants a, b and c; a and b exist and can be taken. It holds c and waits for a.
  // Then b is removed. The second batch recreates b and waits for c.
  struct Scene {
    std::string lock_a;
    std::string remove_b;
    std::function<void()> want_abc;
    std::function<void()> want_bc;
  };

  void play(const Scene& scene) {
    const Witness holder(database_.connect());
    holder.text("BEGIN");
    holder.text(scene.lock_a);
    std::thread first(scene.want_abc);
    const std::string waits = witness_.wait_for_backend("transactionid");
    witness_.text(scene.remove_b);
    std::thread second(scene.want_bc);
    witness_.wait_for_backend("transactionid", waits);
    holder.text("COMMIT");
    first.join();
    second.join();
  }

  // Deadlocks resolved by the server. A backend's counters are visible once it has ended.
  int deadlocks() const {
    witness_.wait_until("count(*) = 1 FROM pg_stat_activity WHERE datname = current_database()");
    return witness_.number(
        "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()");
  }

  PostgresDatabase database_;
  Witness witness_{database_.connect()};
};

class DedupCircleTest : public CircleTest {
 protected:
  // Returns how many of the ids were unclaimed.
  static std::size_t claim(Store& node, std::span<const std::string_view> ids,
                           std::chrono::milliseconds ttl) {
    std::vector<DedupRequest> requests;
    for (const std::string_view id : ids) {
      requests.push_back({.scope = kScope, .id = id, .ttl = ttl});
    }
    const std::vector<Dedup> answers = node.dedup(requests).value();
    std::size_t fresh = 0;
    for (const Dedup& each : answers) fresh += each.duplicate ? 0 : 1;
    return fresh;
  }
  static std::string row_of(std::string_view id) {
    return " FROM hapax.claim WHERE key = decode('" + Witness::key_of(id) + "', 'hex')";
  }

  Store open_node() const { return open(database_.url(), {.timeout = kLongTimeout}).value(); }

  std::optional<Store> one_ = open_node();
  std::optional<Store> two_ = open_node();
};

TEST_F(DedupCircleTest, ABatchThatLosesAnIdToRetentionIsRetried) {
  constexpr std::array<std::string_view, 3> kIds{"a", "b", "c"};
  claim(*one_, std::span(kIds).first(2), 1ms);
  witness_.wait_until_short_claims_expire();
  std::size_t first = 0;
  std::size_t second = 0;
  play({.lock_a = "SELECT 1" + row_of("a") + " FOR UPDATE",
        .remove_b = "DELETE" + row_of("b"),
        .want_abc = [&] { first = claim(*one_, kIds, 1h); },
        .want_bc = [&] { second = claim(*two_, std::span(kIds).subspan(1), 1h); }});
  EXPECT_EQ(first + second, kIds.size());
  one_.reset();
  two_.reset();
  EXPECT_EQ(deadlocks(), 0);
}

class InboxCircleTest : public CircleTest {
 protected:
  std::optional<InboxNode> one_{std::in_place, database_.url(), 1};
  std::optional<InboxNode> two_{std::in_place, database_.url(), 2};
};

TEST_F(InboxCircleTest, ABatchThatLosesAClaimToRetentionIsRetried) {
  const std::array<Post, 3> posts{Post{"a"}, Post{"b"}, Post{"c"}};
  EXPECT_EQ(one_->admit(std::span(posts).first(2)), 2);
  one_->ack(one_->lease(2));
  witness_.text("DELETE FROM hapax.event");
  witness_.text("UPDATE hapax.claim SET expires_at = 'epoch'");
  const auto row_of = [](std::string_view id) {
    return " FROM hapax.claim WHERE right(encode(key, 'escape'), 1) = '" + std::string(id) + "'";
  };
  int first = 0;
  int second = 0;
  play({.lock_a = "SELECT 1" + row_of("a") + " FOR UPDATE",
        .remove_b = "DELETE" + row_of("b"),
        .want_abc = [&] { first = one_->admit(posts); },
        .want_bc = [&] { second = two_->admit(std::span(posts).subspan(1)); }});
  EXPECT_EQ(first + second, 3);
  one_.reset();
  two_.reset();
  EXPECT_EQ(deadlocks(), 0);
}

TEST_F(InboxCircleTest, ABatchThatLosesALaneToRetentionIsRetried) {
  const std::array<Post, 2> before{Post{"1", "a"}, Post{"2", "b"}};
  EXPECT_EQ(one_->admit(before), 2);
  one_->ack(one_->lease(2));
  const auto row_of = [](std::string_view lane) {
    return " FROM hapax.lane WHERE right(encode(key, 'escape'), 1) = '" + std::string(lane) + "'";
  };
  const std::array<Post, 3> three{Post{"3", "a"}, Post{"4", "b"}, Post{"5", "c"}};
  const std::array<Post, 2> two{Post{"6", "b"}, Post{"7", "c"}};
  int first = 0;
  int second = 0;
  play({.lock_a = "SELECT 1" + row_of("a") + " FOR UPDATE",
        .remove_b = "DELETE" + row_of("b"),
        .want_abc = [&] { first = one_->admit(three); },
        .want_bc = [&] { second = two_->admit(two); }});
  EXPECT_EQ(first, 3);
  EXPECT_EQ(second, 2);
  EXPECT_EQ(one_->lease(10).size(), 3U);  // the heads
  one_.reset();
  two_.reset();
  EXPECT_EQ(deadlocks(), 0);
}

}  // namespace
}  // namespace hapax::test
