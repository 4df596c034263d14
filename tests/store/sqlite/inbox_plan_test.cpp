// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/inbox_statements.hpp"

#include "store/sqlite/file/connection.hpp"
#include "store/sqlite/file/schema.hpp"
#include "support/world.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

// The query plans of the statements, from SQLite's EXPLAIN QUERY PLAN.
namespace hapax::store::sqlite {
namespace {

class InboxPlanTest : public testing::Test {
 protected:
  InboxPlanTest() { EXPECT_TRUE(migrate(db_.get())); }

  std::vector<std::string> plan_of(std::string_view sql) {
    const std::string explain = "EXPLAIN QUERY PLAN " + std::string(sql);
    Statement query = Statement::prepare(db_.get(), explain).value();
    sqlite::Run rows(query);  // qualified: testing::Test::Run hides it
    std::vector<std::string> plan;
    while (rows.step("explain").value()) plan.emplace_back(rows.bytes(3));
    return plan;
  }

  test::TempDir directory_;
  Handle db_ = open_file(directory_.file("p.db"), std::chrono::seconds(5)).value();
};

TEST_F(InboxPlanTest, NoHotPathStatementScansATableOrSorts) {
  for (const std::string_view sql : kHotStatements) {
    for (const std::string& step : plan_of(sql)) {
      EXPECT_FALSE(step.starts_with("SCAN hapax_")) << sql << ": " << step;
      EXPECT_EQ(step.find("TEMP B-TREE"), std::string::npos) << sql << ": " << step;
      EXPECT_EQ(step.find("AUTOMATIC"), std::string::npos) << sql << ": " << step;
    }
  }
}

// Deliveries that wait, have ended or belong to other destinations are in another index, or in
// another range of it.
TEST_F(InboxPlanTest, ALeaseReadsOnlyDueDeliveriesOfItsDestination) {
  EXPECT_EQ(plan_of(kDue), std::vector<std::string>{"SEARCH hapax_queue USING INDEX hapax_queue_due"
                                                    " (destination=? AND due_ms<?)"});
}

TEST_F(InboxPlanTest, TheNextDeliveryOfALaneIsFoundWithoutAScan) {
  EXPECT_EQ(plan_of(kFirstWaiting),
            std::vector<std::string>{"SEARCH hapax_queue USING INDEX hapax_queue_rest"
                                     " (destination=? AND state=? AND lane=?)"});
}

TEST_F(InboxPlanTest, CountingReadsIndexesAndNotTheQueue) {
  for (const std::string_view sql : {kCountOpen, kCountLeased, kCountRest}) {
    const std::vector<std::string> plan = plan_of(sql);
    ASSERT_EQ(plan.size(), 1U) << sql;
    EXPECT_NE(plan.front().find("USING COVERING INDEX"), std::string::npos) << plan.front();
  }
}

// If a lease or a renewal updated the index of waiting and ended deliveries, it would pay for every
// index.
TEST_F(InboxPlanTest, TheStatementsOfALeaseDoNotSetTheState) {
  for (const std::string_view sql : {kLease, kRenew}) {
    EXPECT_EQ(sql.find("state ="), std::string_view::npos) << sql;
  }
}

}  // namespace
}  // namespace hapax::store::sqlite
