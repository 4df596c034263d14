// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "crash/inbox_file.hpp"

#include "crash/caller_db.hpp"
#include "store/sqlite/driver.hpp"

namespace hapax::test {

namespace {

struct Rule {
  const char* name;
  const char* broken;  // counts violations
};

// State 0 is open, 1 waiting, 5 dead and blocking: see store/sqlite/file/schema.cpp.
constexpr Rule kRules[] = {
    {"a lane with open deliveries has one head",
     "SELECT count(*) FROM (SELECT 1 FROM hapax_queue WHERE lane IS NOT NULL AND state IN (0, 1, 5)"
     " GROUP BY destination, lane HAVING sum(state <> 1) <> 1)"},
    {"the lane's row names the head",
     "SELECT count(*) FROM hapax_queue AS q WHERE q.lane IS NOT NULL AND q.state IN (0, 5)"
     " AND NOT EXISTS (SELECT 1 FROM hapax_lane AS l WHERE l.destination = q.destination"
     " AND l.key = q.lane AND l.head_event = q.event AND l.head_delivery = q.delivery)"},
    {"the delivery named by a lane's row exists",
     "SELECT count(*) FROM hapax_lane AS l WHERE l.head_event IS NOT NULL AND NOT EXISTS"
     " (SELECT 1 FROM hapax_queue AS q WHERE q.event = l.head_event"
     " AND q.delivery = l.head_delivery AND q.lane = l.key AND q.state IN (0, 5))"},
    {"a delivery has its event",
     "SELECT count(*) FROM hapax_queue WHERE event NOT IN (SELECT no FROM hapax_event)"},
    {"variants and duplicates have their event",
     "SELECT (SELECT count(*) FROM hapax_variant WHERE event NOT IN (SELECT no FROM hapax_event))"
     " + (SELECT count(*) FROM hapax_duplicate WHERE event NOT IN (SELECT no FROM hapax_event))"},
    {"an attempt without its event is below retention's floor",
     "SELECT count(*) FROM hapax_attempt WHERE event NOT IN (SELECT no FROM hapax_event)"
     " AND event > (SELECT floor FROM hapax_sweep)"},
    {"a lease has a fence and a holder, and only a lease has",
     "SELECT count(*) FROM hapax_queue WHERE (fence IS NULL) <> (holder IS NULL)"
     " OR (fence IS NOT NULL AND state <> 0)"},
    {"no delivery is both queued and completed",
     "SELECT count(*) FROM hapax_queue AS q JOIN hapax_attempt AS a ON a.event = q.event"
     " AND a.delivery = q.delivery WHERE a.outcome = 0"},
    {"no fence or lane number exceeds the last one recorded",
     "SELECT max((SELECT coalesce(max(fence), 0) FROM hapax_queue),"
     " (SELECT coalesce(max(lane_seq), 0) FROM hapax_queue),"
     " (SELECT coalesce(max(fence), 0) FROM hapax_attempt)) > (SELECT last FROM hapax_fence)"},
    {"tables of one row have it",
     "SELECT (SELECT count(*) FROM hapax_fence) + (SELECT count(*) FROM hapax_sweep)"
     " + (SELECT count(*) FROM hapax_clock) + (SELECT count(*) FROM hapax_schema) <> 4"},
};

}  // namespace

FileInbox::FileInbox(std::string path, milliseconds passed, const std::string& boot_id)
    : path_(std::move(path)), clock_(boot_id) {
  advance(passed);
  restart();
}

void FileInbox::advance(milliseconds by) {
  clock_.advance(by);
  passed_ += by;
}

void FileInbox::restart() {
  driver_ = {};
  driver_ = store::sqlite::open_driver(path_, {}, clock_).value();
}

void for_every_step(const Steps& steps, const std::function<bool(std::int64_t nth)>& run) {
  constexpr std::int64_t kStepsMax = 5000;  // a longer run is a failure
  for (std::int64_t nth = steps.first; nth <= kStepsMax; nth += steps.apart) {
    SCOPED_TRACE("operation " + std::to_string(nth));
    const bool reached = run(nth);
    if (testing::Test::HasFailure()) return;
    if (reached) continue;
    testing::Test::RecordProperty("steps", static_cast<int>(nth - 1));
    return;
  }
  FAIL() << "the run does not end";
}

void expect_consistent(const std::string& path) {
  const Db db = open_db(path);
  ASSERT_TRUE(db);
  EXPECT_EQ(integrity(db.get()), "ok");
  for (const Rule& each : kRules) EXPECT_EQ(number(db.get(), each.broken), 0) << each.name;
}

}  // namespace hapax::test
