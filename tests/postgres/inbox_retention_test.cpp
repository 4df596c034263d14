// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "postgres/inbox_node.hpp"
#include "postgres/witness.hpp"
#include "support/eventually.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

// The cost of a retention step over many rows of which few or none can be removed.
namespace hapax::test {
namespace {

using std::chrono::hours;
using store::Swept;

constexpr int kStep = 500;

class InboxRetentionTest : public testing::Test {
 protected:
  InboxRetentionTest() {
    // Autovacuum reads and writes the counted pages.
    for (const char* table : {"claim", "lane"}) {
      witness_.text("ALTER TABLE hapax." + std::string(table) + " SET (autovacuum_enabled = off)");
    }
  }

  // A backend reports its page counts when it ends.
  void wait_until_alone() const {
    witness_.wait_until(
        "count(*) = 1 FROM pg_stat_activity WHERE datname = current_database()"
        " AND backend_type = 'client backend'");
  }

  // Pages of these tables and their indexes that `work` reads, on its own connections.
  template <class Work>
  int pages_of(const std::string& tables, Work work) {
    const auto pages = [&] {
      return witness_.number(
          "SELECT sum(heap_blks_hit + heap_blks_read + coalesce(idx_blks_hit + idx_blks_read, 0))"
          " FROM pg_statio_user_tables WHERE schemaname = 'hapax' AND relname ~ '" +
          tables + "'");
    };
    keep_autovacuum_away(witness_);
    wait_until_alone();
    const int before = pages();
    {
      InboxNode node(database_.url(), 1);
      work(node.driver());
    }
    wait_until_alone();
    return pages() - before;
  }

  static store::Periods a_month() { return {SourceNo(1), 30 * days, 30 * days}; }
  static Swept sweep_once(const store::Driver& driver) {
    const store::Periods periods = a_month();
    return driver.queue->sweep({std::span(&periods, 1), kStep}).value();
  }
  static void sweep_to_the_end(const store::Driver& driver) {
    for (int steps = 0; !sweep_once(driver).done; ++steps) ASSERT_LT(steps, 10'000);
  }

  // Rows are added on separate connections: a backend's page counts are reported when it ends, or
  // at some later time, which may be during pages_of().
  //
  // Claims of ids, of which every other one is expired.
  void add_claims(int count) const {
    Witness(database_.connect())
        .text(
            "INSERT INTO hapax.claim (key, token, expires_at) SELECT sha256(int4send(n)), '',"
            " now() + CASE n % 2 WHEN 0 THEN interval '-1 day' ELSE interval '20 days' END"
            " FROM generate_series(1, " +
            std::to_string(count) + ") AS n");
  }
  // Events of today without a delivery, with expired claims.
  void add_events(int count) const {
    keep_autovacuum_away(witness_);
    const Witness adding(database_.connect());
    adding.text(
        "INSERT INTO hapax.event (no, source, would, received_at, tenant, id, type, order_key,"
        " digest, headers, body) SELECT (SELECT max(no) FROM hapax.event) + n, 1, 0, now(), '',"
        " int4send(n), '', '', '', '', '' FROM generate_series(1, " +
        std::to_string(count) + ") AS n");
    adding.text(
        "INSERT INTO hapax.claim (key, event, expires_at) SELECT id, no, now() - interval '1 hour'"
        " FROM hapax.event WHERE octet_length(id) = 4");
  }

  PostgresDatabase database_;
  Witness witness_{database_.connect()};
};

TEST_F(InboxRetentionTest, APassWithNothingToRemoveReadsNoEventsOrAttempts) {
  {
    InboxNode node(database_.url(), 1);
    std::vector<Post> posts;
    posts.reserve(200);
    for (int i = 0; i < 200; ++i) posts.push_back({std::to_string(i)});
    EXPECT_EQ(node.admit(posts), 200);
    node.ack(node.lease(200));
    sweep_to_the_end(node.driver());
  }
  EXPECT_EQ(
      pages_of("^(event|attempt)_", [](const store::Driver& driver) { sweep_to_the_end(driver); }),
      0);
}

TEST_F(InboxRetentionTest, APurgeStepOverRemovedClaimsStaysCheap) {
  constexpr int kClaims = 100'000;  // some 900 pages
  add_claims(kClaims);
  {
    InboxNode node(database_.url(), 1);
    std::size_t removed = 0;
    for (bool done = false; !done;) {
      const Purged purged = node.driver().claims->purge(kStep).value();
      EXPECT_LE(purged.removed, static_cast<std::size_t>(kStep));
      removed += purged.removed;
      done = purged.done;
    }
    EXPECT_EQ(removed, static_cast<std::size_t>(kClaims / 2));
  }
  EXPECT_LT(pages_of("^claim$",
                     [](const store::Driver& driver) {
                       const Purged purged = driver.claims->purge(kStep).value();
                       EXPECT_EQ(purged.removed, 0U);
                       EXPECT_FALSE(purged.done);
                     }),
            300);
}

TEST_F(InboxRetentionTest, ALongQueueIsNotRecountedForEveryQuery) {
  InboxNode node(database_.url(), 1);
  const auto add = [&](int first, int last) {
    witness_.text(
        "INSERT INTO hapax.queue (event, fence, due_at, delivery, destination, state, guard, "
        "listen,"
        " ended_at) SELECT n, 0, now(), 1, 1, 2, 0, false, now() FROM generate_series(" +
        std::to_string(first) + ", " + std::to_string(last) + ") AS n");
  };
  const auto dead = [&] { return node.driver().catalog->stats().value().destinations.at(0).dead; };
  add(1, 10);
  EXPECT_EQ(dead(), 10U);
  add(11, 20);
  EXPECT_EQ(dead(), 20U) << "a short queue is counted each time";
  add(21, 100'000);
  int next = 100'001;
  EXPECT_TRUE(eventually([&] {
    const std::uint64_t before = dead();
    add(next, next);
    ++next;
    return dead() == before;
  }));
}

TEST_F(InboxRetentionTest, ASweepStepReadsFewExpiredClaimsOfRetainedEvents) {
  InboxNode(database_.url(), 1).admit(std::array{Post{"makes the day"}});
  add_events(20'000);
  {
    InboxNode node(database_.url(), 1);
    sweep_to_the_end(node.driver());
  }
  // A few index pages for each claim examined.
  EXPECT_LT(pages_of("^event_", [](const store::Driver& driver) { sweep_once(driver); }),
            6 * kStep);
  EXPECT_EQ(witness_.number("SELECT count(*) FROM hapax.claim"), 20'001);
}

}  // namespace
}  // namespace hapax::test
