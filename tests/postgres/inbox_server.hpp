// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "compliance/inbox_suite.hpp"
#include "postgres/witness.hpp"
#include "store/postgres/driver.hpp"
#include "support/eventually.hpp"

#include <memory>
#include <optional>
#include <string>

// An inbox in a PostgreSQL database that a test can empty and inspect.
namespace hapax::test {

// One node, with a manual clock.
class NodeInbox final : public InboxSubject {
 public:
  NodeInbox(const std::string& url, milliseconds timeout, ManualClock& clock)
      : clock_(clock), driver_(open_with_retries(url, {.timeout = timeout, .clock = &clock})) {}

  const Driver& driver() override { return driver_; }
  void advance(milliseconds by) override { clock_.advance(by); }
  void jump_wall(milliseconds) override {}

 private:
  // A short time-out may expire before a busy machine has connected. That is not under test.
  Driver open_with_retries(const std::string& url, const OpenOptions& options) {
    std::optional<Result<Driver>> driver;
    const bool is_open = eventually([&] {
      return driver.emplace(store::postgres::open_driver(url, options, random_)).has_value();
    });
    EXPECT_TRUE(is_open) << driver->error().to_string();
    return std::move(*driver).value();
  }

  ManualClock& clock_;
  SeededRandom random_{1};
  Driver driver_;
};

// Removes all contents of an inbox except its names.
inline void empty_inbox(const Witness& witness) {
  for (const char* table :
       {"event", "queue", "lane", "attempt", "claim", "message", "duplicate", "variant", "node",
        "pause", "seen", "reject", "reject_count", "sweep", "day", "retention"}) {
    witness.text(std::string("DELETE FROM hapax.") + table);
  }
  witness.text("INSERT INTO hapax.sweep DEFAULT VALUES");
  witness.text("INSERT INTO hapax.retention (part) SELECT n FROM generate_series(0, 4) AS n");
}

// Fails the test unless each non-empty lane has exactly one head, the one that its row names, and
// each delivery has its event and is not both queued and completed.
inline void expect_consistent(const Witness& witness) {
  struct Rule {
    const char* name;
    const char* broken;  // counts violations
  };
  // State 0 is open, 1 waiting, 2 dead, 5 a completed replay: see migrations/0002_inbox.sql.
  constexpr Rule kRules[] = {
      {"a lane with open deliveries has one head",
       "SELECT count(*) FROM (SELECT 1 FROM hapax.queue WHERE lane IS NOT NULL"
       " AND (state <= 1 OR blocks) GROUP BY destination, lane"
       " HAVING count(*) FILTER (WHERE state <> 1) <> 1) AS x"},
      {"the lane's row names the head",
       "SELECT count(*) FROM hapax.queue AS q WHERE q.lane IS NOT NULL AND (q.state = 0 OR "
       "q.blocks)"
       " AND NOT EXISTS (SELECT 1 FROM hapax.lane AS l WHERE l.destination = q.destination"
       " AND l.key = q.lane AND l.head_event = q.event AND l.head_delivery = q.delivery)"},
      {"the delivery named by a lane's row exists",
       "SELECT count(*) FROM hapax.lane AS l WHERE l.head_event IS NOT NULL AND NOT EXISTS"
       " (SELECT 1 FROM hapax.queue AS q WHERE q.event = l.head_event"
       " AND q.delivery = l.head_delivery AND q.lane = l.key AND (q.state = 0 OR q.blocks))"},
      {"a delivery has its event",
       "SELECT count(*) FROM hapax.queue WHERE event NOT IN (SELECT no FROM hapax.event)"},
      {"no delivery is both queued and completed",
       "SELECT count(*) FROM hapax.queue AS q JOIN hapax.attempt AS a ON a.event = q.event"
       " AND a.delivery = q.delivery WHERE a.outcome = 0 AND q.state <> 5"},
  };
  for (const Rule& each : kRules) EXPECT_EQ(witness.number(each.broken), 0) << each.name;
}

}  // namespace hapax::test
