// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// Specific to the memory store: its bounds, and the consistency of its tables under random
// operations.
#include "store/memory/admit.hpp"
#include "store/memory/driver.hpp"
#include "store/memory/queue.hpp"
#include "store/memory/replay.hpp"
#include "store/memory/retention.hpp"
#include "support/world.hpp"

#include <gtest/gtest.h>

namespace hapax::store::memory {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using test::SeededRandom;

constexpr Room kRoom{1000, std::size_t{1} << 30};

Arrival arrival(std::int64_t number, std::string_view key, std::span<const Target> targets) {
  return {.no = EventNo(number),
          .source = SourceNo(1),
          .key = key,
          .id = key,
          .remember = hours(1),
          .targets = targets};
}

AdmitAnswer admit_one(const Driver& driver, const Arrival& arrival) {
  const Admit admit{std::span(&arrival, 1)};
  return driver.queue->write({.admit = std::span(&admit, 1)}).admit.at(0);
}

TEST(MemoryInbox, IsFullWhenAllOfItsIdsAreClaimed) {
  test::ManualClock clock;
  const auto driver = make_driver(2, clock);
  EXPECT_TRUE(admit_one(driver, arrival(1, "a", {})));
  EXPECT_TRUE(admit_one(driver, arrival(2, "b", {})));
  const AdmitAnswer full = admit_one(driver, arrival(3, "c", {}));
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code(), Code::store_full);
  EXPECT_EQ(full.error().outcome(), Outcome::did_not_happen);
  EXPECT_EQ(admit_one(driver, arrival(4, "a", {}))->front().kind, Admission::Kind::duplicate)
      << "a live id is never evicted";
  clock.advance(hours(1));
  EXPECT_FALSE(admit_one(driver, arrival(5, "c", {}))) << "the events are still there";
  const Periods periods{SourceNo(1), seconds(0), seconds(0)};
  EXPECT_EQ(driver.queue->sweep({std::span(&periods, 1), 100})->events, 2U);
  EXPECT_TRUE(admit_one(driver, arrival(6, "c", {})));
}

TEST(MemoryInbox, IsFullWhenItsBytesAreUsedUp) {
  test::ManualClock clock;
  const auto driver = make_driver(1000, clock, 10'000);
  const std::string body(4000, 'x');
  Arrival big = arrival(1, "a", {});
  big.body = body;
  EXPECT_TRUE(admit_one(driver, big));
  const Arrival both[]{arrival(2, "b", {}), arrival(3, "c", {})};
  Arrival request[]{both[0], both[1]};
  request[0].body = request[1].body = body;
  const Admit admit{request};
  const AdmitAnswer full = driver.queue->write({.admit = std::span(&admit, 1)}).admit.at(0);
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code(), Code::store_full);
  EXPECT_EQ(driver.catalog->events({})->events.size(), 1U) << "nothing of the request was stored";
  EXPECT_EQ(admit_one(driver, both[0])->front().kind, Admission::Kind::fresh);
}

// Checks that each lane has one head, open or dead and blocking, and that its other members wait;
// that the index of due deliveries contains exactly the open ones; and that each delivery with a
// lane is a member of it.
void expect_consistent(const Tables& tables) {
  std::size_t open = 0;
  for (const auto& [ref, delivery] : tables.deliveries) {
    ASSERT_TRUE(tables.events.contains(ref.event));
    const bool listed = tables.due.contains({delivery.to, delivery.due_ms, ref});
    ASSERT_EQ(listed, delivery.state == QueueState::open);
    open += listed ? 1 : 0;
    ASSERT_TRUE(delivery.state != QueueState::waiting || delivery.in_lane);
    ASSERT_TRUE(!delivery.holder || delivery.state == QueueState::open);
    if (!delivery.in_lane) continue;
    const Lane& lane = tables.lanes.at({delivery.to, delivery.lane});
    ASSERT_EQ(lane.members.at(delivery.lane_seq), ref);
  }
  ASSERT_EQ(open, tables.due.size());
  for (const auto& [name, lane] : tables.lanes) {
    for (const auto& [seq, ref] : lane.members) {
      const Delivery& member = tables.deliveries.at(ref);
      ASSERT_TRUE(member.in_lane);
      const bool heads = member.state == QueueState::open || member.blocking();
      ASSERT_EQ(heads, ref == lane.head);
      ASSERT_TRUE(heads || member.state == QueueState::waiting);
    }
  }
}

struct Play {
  Tables tables;
  SeededRandom random;
  std::int64_t now = 1'000'000;
  std::int64_t last = 0;
  std::vector<std::pair<DeliveryRef, Fence>> leases;

  void admit_some() {
    const std::string key = std::to_string(random.below(50));
    const std::string lane = std::to_string(random.below(3));
    const Target targets[]{{DestinationNo(1)}, {DestinationNo(2)}, {DestinationNo(3), true}};
    Arrival made = arrival(++last, key, std::span(targets).first(random.below(4)));
    made.order_key = lane;
    if (random.below(2) == 0) made.version = static_cast<std::int64_t>(random.below(10));
    (void)admit(tables, {std::span(&made, 1)}, kRoom, now);
  }
  void lease_some() {
    const LeaseRequest request{
        .from = DestinationNo(static_cast<std::int64_t>(1 + random.below(3))),
        .max = 1 + random.below(4),
        .lease = seconds(10),
        .holder = {random.below(2) == 0 ? Holder::Kind::push : Holder::Kind::pull, 1},
        .max_abandons = 2,
        .horizon = random.below(3) == 0 ? milliseconds(hours(1)) : milliseconds(0),
        .on_dead = random.below(2) == 0 ? OnDead::skip : OnDead::block};
    for (const Leased& each : lease(tables, request, now).deliveries) {
      leases.push_back({{each.event.no, each.delivery}, each.fence});
    }
  }
  void settle_some() {
    if (leases.empty()) return;
    const OnDead on_dead = random.below(2) == 0 ? OnDead::skip : OnDead::block;
    const Disposition dispositions[]{Ack{},
                                     RetryIn{seconds(random.below(20))},
                                     Drop{},
                                     Dead{EndReason::exhausted, on_dead},
                                     Renew{seconds(5)},
                                     Release{.sent = random.below(2) == 0}};
    const auto& [which, fence] = leases[random.below(leases.size())];
    settle(tables, {which, fence, dispositions[random.below(6)], {}}, now);
  }
  DeliveryRef some_delivery() {
    return {
        EventNo(static_cast<std::int64_t>(1 + random.below(static_cast<std::uint64_t>(last) + 1))),
        DeliveryNo(static_cast<std::int64_t>(1 + random.below(3)))};
  }
  void step() {
    switch (random.below(9)) {
      case 0:
      case 1:
        return admit_some();
      case 2:
      case 3:
        return lease_some();
      case 4:
      case 5:
        return settle_some();
      case 6:
        cancel(tables, some_delivery(), now);
        return;
      case 7: {
        const ReplayAs as = random.below(3) == 0 ? ReplayAs::as_new : ReplayAs::same;
        replay(tables, {.event = some_delivery().event, .how = {.as = as}}, now);
        return;
      }
      default:
        now += static_cast<std::int64_t>(random.below(15'000));
    }
  }
  void sweep_all() {
    const Periods periods{SourceNo(1), seconds(30), seconds(60)};
    while (!sweep(tables, {std::span(&periods, 1), 100}, now).done) {
    }
  }
};

TEST(MemoryInbox, TablesStayConsistentUnderRandomOperations) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Play play{{}, SeededRandom(seed), 1'000'000, 0, {}};
    for (int i = 0; i < 3000; ++i) {
      play.step();
      if (i % 200 == 0) play.sweep_all();
      expect_consistent(play.tables);
      if (testing::Test::HasFatalFailure()) FAIL() << "seed " << seed << ", step " << i;
    }
  }
}

TEST(MemoryInbox, TablesAreEmptyWhenEverythingHasExpired) {
  Play play{{}, SeededRandom(9), 1'000'000, 0, {}};
  for (int i = 0; i < 2000; ++i) play.step();
  std::vector<DeliveryRef> all;
  for (const auto& each : play.tables.deliveries) all.push_back(each.first);
  for (const DeliveryRef& each : all) cancel(play.tables, each, play.now);
  play.now += milliseconds(30 * days).count();
  play.sweep_all();
  EXPECT_TRUE(play.tables.events.empty());
  EXPECT_TRUE(play.tables.deliveries.empty());
  EXPECT_TRUE(play.tables.due.empty());
  EXPECT_TRUE(play.tables.lanes.empty());
  EXPECT_TRUE(play.tables.claims.empty());
  EXPECT_TRUE(play.tables.attempts.empty());
  EXPECT_EQ(play.tables.bytes, 0U);
}

}  // namespace
}  // namespace hapax::store::memory
