// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "compliance/inbox_scenes.hpp"
#include "postgres/inbox_server.hpp"
#include "postgres/libpq_faults.hpp"

#include <gtest/gtest.h>

#include <iostream>
#include <optional>

// Every scene of the inbox, while the N-th call of libpq fails, for every N until runs pass without
// meeting it. One failure is the store's to overcome; when all that follows fails, the act must
// have happened whole or not at all, as its answer says, and the same act again tells the truth.
namespace hapax::test {
namespace {

constexpr int kCallsMax = 2000;  // a run that is longer than this has gone wrong

struct Shape {
  LibpqFault fault;
  Lasting lasting;

  friend std::ostream& operator<<(std::ostream& out, const Shape& shape) {
    return out << shape.fault << (shape.lasting == Lasting::yes ? "ForGood" : "Once");
  }
};

constexpr Shape kShapes[] = {
    {LibpqFault::cut_before, Lasting::no},  {LibpqFault::cut_after, Lasting::no},
    {LibpqFault::refused, Lasting::no},     {LibpqFault::answer_dropped, Lasting::no},
    {LibpqFault::cut_before, Lasting::yes}, {LibpqFault::cut_after, Lasting::yes}};
constexpr int kShapeCount = 6;

class InboxCalls : public testing::TestWithParam<Scene> {
 protected:
  // Otherwise every migration would wait for a disk that does not fail here.
  void SetUp() override {
    ask_server("ALTER DATABASE " + database_.name() + " SET synchronous_commit = off");
    NodeInbox(database_.url(), seconds(5), clock_);
  }

  // Whether the nth call was reached.
  bool run(const Shape& shape, int nth);

 private:
  // Until what was cut off has ended.
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
  NodeInbox calm(database_.url(), seconds(5), clock);
  Side before(calm);
  for (const Operation& each : scene.before) before.apply(each);
  std::optional<NodeInbox> node;
  node.emplace(database_.url(), lasting ? milliseconds(250) : seconds(5), clock);
  Side side(before, *node);
  Progress progress;
  bool reached = false;
  {
    const FailCall fault(shape.fault, nth, shape.lasting);
    for (; progress.sure < scene.acts.size() && !progress.perhaps_one_more; ++progress.sure) {
      const Operation& act = scene.acts[progress.sure];
      const std::string answer = side.apply(act).text;
      reached = fault.reached();
      const Told what = told(answer, script_.answers[progress.sure]);
      // What was lost and found again by the store has been counted before.
      const bool recounted = what == Told::something_else && counts(act) && (reached || lasting);
      if (what == Told::the_answer || recounted) continue;
      // A short time is over now and then without a fault.
      EXPECT_TRUE(lasting) << describe(act) << ": " << answer;
      EXPECT_NE(what, Told::something_else) << describe(act) << ": " << answer;
      progress.perhaps_one_more = what == Told::unknown;
      progress.perhaps_in_part = has_parts(act);
      break;
    }
  }
  auto works = node->driver().paused();
  for (int more = 20; !works && more > 0; --more) works = node->driver().paused();
  EXPECT_TRUE(works) << "the fault is over: " << works.error().to_string();
  node.reset();
  wait_for_backends(1);
  NodeInbox healed(database_.url(), seconds(5), clock);
  Side after(side, healed);
  expect_sound(witness_);
  expect_goes_on(after, scene, script_, progress);
  expect_sound(witness_);
  return reached;
}

// How often libpq must be asked for an answer differs a little from run to run, so one run that
// passes is not enough. In ./test --long every call fails in every way; otherwise the ways take
// turns.
TEST_P(InboxCalls, EveryActHappensWholeOrNotAtAll) {
  const bool every = rounds(10) == 10;
  const int apart = every ? 1 : kShapeCount;
  int turn = 0;
  for (const Shape& shape : kShapes) {
    int visited = 0;
    int runs = 0;
    for (int nth = every ? 1 : 1 + turn++; nth <= visited + 3 * apart; nth += apart) {
      ASSERT_LT(nth, kCallsMax) << "the run does not end";
      SCOPED_TRACE(testing::PrintToString(shape) + ", call " + std::to_string(nth));
      if (run(shape, nth)) visited = nth;
      ++runs;
      if (HasFailure()) return;
    }
    std::cout << shape << ": " << runs << " runs over " << visited << " calls\n";
  }
}

INSTANTIATE_TEST_SUITE_P(Libpq, InboxCalls, testing::ValuesIn(inbox_scenes()),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace hapax::test
