// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "postgres/inbox_node.hpp"
#include "postgres/witness.hpp"

#include <gtest/gtest.h>

#include <array>

// PostgreSQL keeps the plans of a function as long as the connection lives. Those that it made
// while there were few claims must serve when there are many, before anybody has counted them anew.
namespace hapax::test {
namespace {

using namespace std::chrono_literals;

constexpr int kFew = 60;  // less than a page: the planner would rather read them all
constexpr int kMany = 5000;
constexpr int kCalls = 10;  // after five PostgreSQL makes up its mind about a plan

class PlanTest : public testing::Test {
 protected:
  PlanTest() {
    EXPECT_TRUE(migrate(database_.url()));
    add_claims(1, kFew);
    count_anew();
  }

  template <class Work>
  void with_few_and_then_many(Work work) {
    for (int i = 0; i < kCalls; ++i) work();
    add_claims(kFew + 1, kMany);
    for (int i = 0; i < kCalls; ++i) work();
  }

  // How many claims were read in scans of the whole table. A connection tells when it has ended.
  int read_in_scans() const {
    witness_.wait_until("count(*) = 1 FROM pg_stat_activity WHERE datname = current_database()");
    return witness_.number(
        "SELECT seq_tup_read FROM pg_stat_user_tables"
        " WHERE relid = 'hapax.claim'::regclass");
  }

  // How often the index of the times was read, which knows no more than ranges of pages.
  int reads_by_time() const {
    return witness_.number(
        "SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = 'claim_expires_at'");
  }
  void count_anew() const { witness_.text("ANALYZE hapax.claim"); }

  PostgresDatabase database_;
  ManualClock clock_;

 private:
  // Ids that are numbers.
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
    count_anew();
    for (int i = 0; i < kCalls; ++i) known();
  }
  EXPECT_EQ(read_in_scans(), 0);
  EXPECT_EQ(reads_by_time(), 0) << "that none is over makes the index of the times look cheap";
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
