// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "postgres/inbox_node.hpp"
#include "postgres/witness.hpp"

#include <gtest/gtest.h>

#include <array>

// PostgreSQL caches the plans of a function for the life of the connection. Plans made for few
// claims must also serve many, before the statistics are updated.
namespace hapax::test {
namespace {

using namespace std::chrono_literals;

constexpr int kFew = 60;  // less than a page: the planner prefers a sequential scan
constexpr int kMany = 5000;
constexpr int kCalls = 10;  // PostgreSQL may switch to a generic plan after five

class PlanTest : public testing::Test {
 protected:
  PlanTest() {
    EXPECT_TRUE(migrate(database_.url()));
    add_claims(1, kFew);
    update_statistics();
  }

  template <class Work>
  void with_few_and_then_many(Work work) {
    for (int i = 0; i < kCalls; ++i) work();
    add_claims(kFew + 1, kMany);
    for (int i = 0; i < kCalls; ++i) work();
  }

  // Claims read in sequential scans. A backend reports its counters when it ends.
  int read_in_scans() const {
    witness_.wait_until("count(*) = 1 FROM pg_stat_activity WHERE datname = current_database()");
    return witness_.number(
        "SELECT seq_tup_read FROM pg_stat_user_tables"
        " WHERE relid = 'hapax.claim'::regclass");
  }

  // Scans of the BRIN index on expiry times, which narrows a search to page ranges only.
  int reads_by_time() const {
    return witness_.number(
        "SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = 'claim_expires_at'");
  }
  void update_statistics() const { witness_.text("ANALYZE hapax.claim"); }

  PostgresDatabase database_;
  ManualClock clock_;

 private:
  // The ids are numbers.
  void add_claims(int first, int last) const {
    witness_.text("INSERT INTO hapax.claim (key, token, expires_at) SELECT decode('" +
                  Witness::key_of("") +
                  "', 'hex') || convert_to(n::text, 'UTF8'), decode(md5(n::text), 'hex'),"
                  " timestamptz '2030-01-01' FROM generate_series(" +
                  std::to_string(first) + ", " + std::to_string(last) + ") AS n");
  }

  Witness witness_{database_.connect()};
};

// A store on one connection.
class StorePlanTest : public PlanTest {
 protected:
  void claim(bool expect_duplicates) {
    const std::array<DedupRequest, 3> requests{
        DedupRequest{.scope = kScope, .id = "1", .ttl = 1h},
        DedupRequest{.scope = kScope, .id = "30", .ttl = 1h},
        DedupRequest{.scope = kScope, .id = "60", .ttl = 1h}};
    const std::vector<Dedup> answers = store_->dedup(requests).value();
    for (const Dedup& each : answers) EXPECT_EQ(each.duplicate, expect_duplicates);
  }

  std::optional<Store> store_ = open(database_.url(), {.connections = 1, .clock = &clock_}).value();
};

TEST_F(StorePlanTest, KnownIdsAreFoundThroughTheIndex) {
  with_few_and_then_many([&] { claim(/*expect_duplicates=*/true); });
  store_.reset();
  EXPECT_EQ(read_in_scans(), 0);
}

TEST_F(StorePlanTest, ExpiredIdsAreRemovedThroughTheIndex) {
  clock_.advance(10 * 365 * days);
  with_few_and_then_many([&] {
    claim(/*expect_duplicates=*/false);
    clock_.advance(2h);
  });
  store_.reset();
  EXPECT_EQ(read_in_scans(), 0);
}

TEST_F(PlanTest, KnownEventsAreFoundThroughTheIndex) {
  {
    InboxNode node(database_.url(), 1);
    const std::array<Post, 3> posts{Post{"a"}, Post{"b"}, Post{"c"}};
    EXPECT_EQ(node.admit(posts), 3);
    const auto known = [&] { EXPECT_EQ(node.admit(posts), 0); };
    with_few_and_then_many(known);
    update_statistics();
    for (int i = 0; i < kCalls; ++i) known();
  }
  EXPECT_EQ(read_in_scans(), 0);
  EXPECT_EQ(reads_by_time(), 0)
      << "without expired claims the index on times looks cheap to the planner";
}

// A caller's connection.
class TxPlanTest : public PlanTest {
 protected:
  template <class Work>
  void in_transactions(Work work) {
    const PgHandle handle = database_.connect();
    PostgresSession session = PostgresSession::attach(handle.get(), {.clock = &clock_}).value();
    with_few_and_then_many([&] {
      PostgresTransaction tx = session.begin().value();
      work(tx);
      EXPECT_TRUE(tx.commit());
    });
  }

  std::string next() { return "new " + std::to_string(++made_); }

 private:
  int made_ = 0;
};

TEST_F(TxPlanTest, ResultsAreStoredAndFoundByTheIndex) {
  in_transactions([&](PostgresTx& tx) {
    const std::string id = next();
    for (const bool duplicate : {false, true}) {
      const Once done = once(tx, {.scope = kScope, .id = id}, [](PostgresTx&) {
                          return std::string("done");
                        }).value();
      EXPECT_EQ(done.duplicate, duplicate);
      EXPECT_EQ(done.result, "done");
    }
  });
  EXPECT_EQ(read_in_scans(), 0);
}

TEST_F(TxPlanTest, KeysOfMessagesAreStoredAndFoundByTheIndex) {
  in_transactions([&](PostgresTx& tx) {
    const std::string key = next();
    for (const bool duplicate : {false, true}) {
      const Message message{.destination = "mail", .key = key, .payload = "hello"};
      EXPECT_EQ(outbox(tx).enqueue(message).value().duplicate, duplicate);
    }
  });
  EXPECT_EQ(read_in_scans(), 0);
}

}  // namespace
}  // namespace hapax::test
