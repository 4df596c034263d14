// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "compliance/inbox_scenes.hpp"
#include "postgres/inbox_server.hpp"
#include "postgres/libpq_faults.hpp"

#include <gtest/gtest.h>

#include <array>
#include <iostream>
#include <optional>
#include <vector>

// Every scene of the inbox while the N-th libpq call fails, for every N until the runs end without
// reaching it. The store must recover from a single failure. If all later calls fail, the operation
// must have happened entirely or not at all, as its answer states, and a repeat must resolve an
// unknown outcome.
namespace hapax::test {
namespace {

constexpr int kCallsMax = 2000;  // a longer run is a failure
constexpr int kRepeatsMax = 100;

constexpr int kShapeCount = 6;

class InboxCalls : public testing::TestWithParam<Scene> {
 protected:
  // Saves an fsync per migration. Disk failures are not under test here.
  void SetUp() override {
    ask_server("ALTER DATABASE " + database_.name() + " SET synchronous_commit = off");
    NodeInbox(database_.url(), kLongTimeout, clock_);
  }

  // Returns whether the nth call was reached.
  bool run(const Shape& shape, int nth);
  bool is_too_slow_ = false;  // the last run failed before its fault was reached

 private:
  // Waits for backends of broken connections to end.
  void wait_for_backends(int left) const {
    witness_.wait_until(
        "count(*) = " + std::to_string(left) +
        " FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'hapax'");
  }

  const Script script_ = script_of(GetParam());
  PostgresDatabase database_;
  ManualClock clock_;
  Witness witness_{database_.connect()};
};

bool InboxCalls::run(const Shape& shape, int nth) {
  const Scene& scene = GetParam();
  empty_inbox(witness_);
  ManualClock clock;
  const bool lasting = shape.lasting == Lasting::yes;
  NodeInbox calm(database_.url(), kLongTimeout, clock);
  Side before(calm);
  for (const Operation& each : scene.before) before.apply(each);
  std::optional<NodeInbox> node;
  node.emplace(database_.url(), lasting ? milliseconds(250) : kLongTimeout, clock);
  Side side(before, *node);
  Progress progress;
  bool reached = false;
  is_too_slow_ = false;
  {
    const FailCall fault(shape.fault, nth, shape.lasting);
    for (; progress.certain < scene.acts.size() && !progress.maybe_one_more; ++progress.certain) {
      const Operation& act = scene.acts[progress.certain];
      const std::string answer = side.apply(act).text;
      reached = fault.reached();
      const AnswerMatch what = compare_answer(answer, script_.answers[progress.certain]);
      // An operation that the store repeated may report other counts than the script.
      const bool recounted =
          what == AnswerMatch::different && reports_counts(act) && (reached || lasting);
      if (what == AnswerMatch::expected || recounted) continue;
      // A short time-out sometimes expires without a fault.
      EXPECT_TRUE(lasting) << describe(act) << ": " << answer;
      EXPECT_NE(what, AnswerMatch::different) << describe(act) << ": " << answer;
      is_too_slow_ = !reached;
      progress.maybe_one_more = what == AnswerMatch::unknown;
      progress.maybe_partly = has_parts(act);
      break;
    }
  }
  EXPECT_TRUE(eventually([&] { return node->driver().catalog->paused().has_value(); }))
      << "after the fault";
  node.reset();
  wait_for_backends(1);
  NodeInbox healed(database_.url(), kLongTimeout, clock);
  Side after(side, healed);
  expect_consistent(witness_);
  expect_continues(after, scene, script_, progress);
  expect_consistent(witness_);
  return reached;
}

// The number of libpq calls varies a little between runs, so the loop ends only after several runs
// without the fault. In ./test --long every call fails in every shape; otherwise the shapes
// alternate.
TEST_P(InboxCalls, EveryOperationIsAtomic) {
  const bool every = rounds(10) == 10;
  const int apart = every ? 1 : kShapeCount;
  int turn = 0;
  for (const Shape& shape : kShapes) {
    int visited = 0;
    int runs = 0;
    for (int nth = every ? 1 : 1 + turn++; nth <= visited + 3 * apart; nth += apart) {
      ASSERT_LT(nth, kCallsMax) << "the run does not end";
      SCOPED_TRACE(testing::PrintToString(shape) + ", call " + std::to_string(nth));
      int repeated = 0;
      do {
        if (run(shape, nth)) visited = nth;
        ++runs;
        if (HasFailure()) return;
        ASSERT_LT(++repeated, kRepeatsMax) << "the run fails without a fault";
      } while (is_too_slow_);
    }
    std::cout << shape << ": " << runs << " runs over " << visited << " calls\n";
  }
}

// A lease whose answer is lost is unusable until it expires, so the answers vary between runs. In
// every run each delivery must be acknowledged once, and none may be lost.
class InboxLeaseCalls : public testing::Test {
 protected:
  using Settled = store::Settled;
  static constexpr std::size_t kEvents = 3;

  void SetUp() override {
    ask_server("ALTER DATABASE " + database_.name() + " SET synchronous_commit = off");
    NodeInbox calm(database_.url(), kLongTimeout, clock_);
    to_ = calm.driver().catalog->number_of(store::NameKind::destination, "one").value();
    source_ = calm.driver().catalog->number_of(store::NameKind::source, "x").value();
  }

  bool run(const Shape& shape, int nth);
  bool is_too_slow_ = false;  // as above

 private:
  void admit(const Driver& driver) const {
    const store::Target target{DestinationNo(to_)};
    std::vector<store::Arrival> arrivals;
    const std::array<std::string, kEvents> ids{"a", "b", "c"};
    for (std::size_t i = 0; i < kEvents; ++i) {
      arrivals.push_back({.no = EventNo(static_cast<std::int64_t>(10 + i)),
                          .source = SourceNo(source_),
                          .key = ids[i],
                          .id = ids[i],
                          .targets = std::span(&target, 1)});
    }
    const store::Admit request{.arrivals = arrivals};
    ASSERT_TRUE(driver.queue->write({.admit = std::span(&request, 1)}).admit.front());
  }

  Result<std::vector<store::Lease>> lease(const Driver& driver) const {
    const store::LeaseRequest request{
        DestinationNo(to_), kEvents, minutes(1), {Holder::Kind::push, 1}};
    return driver.queue->write({.lease = std::span(&request, 1)}).lease;
  }

  static Result<std::vector<Settled>> ack(const Driver& driver, const store::Lease& lease) {
    std::vector<store::Settlement> wanted;
    for (const store::Leased& each : lease.deliveries) {
      wanted.push_back({{each.event.no, each.delivery}, each.fence, Ack{}});
    }
    return driver.queue->write({.settle = wanted}).settle;
  }

  // Returns how many deliveries are known to be acknowledged.
  static std::size_t lease_and_ack(const Driver& driver,
                                   const Result<std::vector<store::Lease>>& leases, bool surely) {
    EXPECT_TRUE(leases || !surely) << leases.error().to_string();
    if (!leases || leases->front().deliveries.empty()) return 0;
    const Result<std::vector<Settled>> settled = ack(driver, leases->front());
    EXPECT_TRUE(settled || !surely) << settled.error().to_string();
    if (!settled) return 0;
    for (const Settled each : *settled) EXPECT_EQ(each, Settled::ok);
    return settled->size();
  }

  PostgresDatabase database_;
  ManualClock clock_;
  Witness witness_{database_.connect()};
  std::int64_t to_ = 0;
  std::int64_t source_ = 0;
};

bool InboxLeaseCalls::run(const Shape& shape, int nth) {
  const bool lasting = shape.lasting == Lasting::yes;
  empty_inbox(witness_);
  NodeInbox calm(database_.url(), kLongTimeout, clock_);
  admit(calm.driver());
  std::size_t acked = 0;
  bool reached = false;
  {
    NodeInbox node(database_.url(), lasting ? milliseconds(250) : kLongTimeout, clock_);
    const FailCall fault(shape.fault, nth, shape.lasting);
    acked = lease_and_ack(node.driver(), lease(node.driver()), !lasting);
    reached = fault.reached();
    is_too_slow_ = acked < kEvents && !reached;
  }
  witness_.wait_until(
      "count(*) = 1 FROM pg_stat_activity WHERE datname = current_database()"
      " AND application_name = 'hapax'");
  clock_.advance(minutes(2));
  const std::size_t left = lease_and_ack(calm.driver(), lease(calm.driver()), /*surely=*/true);
  EXPECT_LE(acked + left, kEvents) << "none is leased again once it is acknowledged";
  EXPECT_EQ(witness_.number("SELECT count(*) FROM hapax.queue"), 0) << "none is lost";
  EXPECT_EQ(witness_.number("SELECT count(*) FROM hapax.attempt WHERE outcome = 0"), 3)
      << "each is acknowledged once";
  expect_consistent(witness_);
  return reached;
}

TEST_F(InboxLeaseCalls, EveryDeliveryIsAcknowledgedOnce) {
  for (const Shape& shape : kShapes) {
    int visited = 0;
    for (int nth = 1; nth <= visited + 3; ++nth) {
      ASSERT_LT(nth, kCallsMax) << "the run does not end";
      SCOPED_TRACE(testing::PrintToString(shape) + ", call " + std::to_string(nth));
      int repeated = 0;
      do {
        if (run(shape, nth)) visited = nth;
        if (HasFailure()) return;
        ASSERT_LT(++repeated, kRepeatsMax) << "the run fails without a fault";
      } while (is_too_slow_);
    }
    EXPECT_GT(visited, 0);
    std::cout << shape << ": " << visited << " calls\n";
  }
}

INSTANTIATE_TEST_SUITE_P(Libpq, InboxCalls, testing::ValuesIn(inbox_scenes()),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace hapax::test
