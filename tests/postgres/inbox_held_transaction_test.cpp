// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "postgres/inbox_node.hpp"
#include "postgres/witness.hpp"

#include <algorithm>
#include <array>
#include <iostream>
#include <vector>

// An open transaction keeps the server from vacuuming dead rows while deliveries flow. The queue
// must not become slower. The assertions count the pages and index entries read, which other load
// on the machine does not change; the times are printed for information.
namespace hapax::test {
namespace {

using std::chrono::duration;
using std::chrono::steady_clock;
using store::Leased;
using store::Settled;

constexpr int kBatch = 100;

std::vector<Post> batch(int first) {
  std::vector<Post> posts;
  for (int i = first; i < first + kBatch; ++i) posts.push_back({"id-" + std::to_string(i)});
  return posts;
}

// The cost of a number of batches.
struct Cost {
  double lease_us = 0;
  double settle_us = 0;
  double pages = 0;    // of tables and indexes, including those of admits, which stay constant
  double entries = 0;  // of indexes, returned to lease and settle
};

// Leases and settles one batch, and adds the cost.
void deliver(InboxNode& node, Cost& cost) {
  const auto begin = steady_clock::now();
  const std::vector<Leased> leases = node.lease(kBatch);
  const auto leased = steady_clock::now();
  const std::vector<Settled> settled = node.ack(leases);
  const auto end = steady_clock::now();
  ASSERT_EQ(leases.size(), static_cast<std::size_t>(kBatch));
  ASSERT_EQ(std::count(settled.begin(), settled.end(), Settled::ok), kBatch);
  cost.lease_us += duration<double, std::micro>(leased - begin).count();
  cost.settle_us += duration<double, std::micro>(end - leased).count();
}

double select_number(const Witness& witness, const std::string& what) {
  return std::atof(witness.text("SELECT " + what).c_str());
}
double pages(const Witness& witness) {
  return select_number(witness,
                       "sum(heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read)"
                       " FROM pg_statio_user_tables WHERE schemaname = 'hapax'");
}
double entries(const Witness& witness) {
  return select_number(witness,
                       "sum(idx_tup_read) FROM pg_stat_user_indexes WHERE schemaname = 'hapax'");
}

// Admits and delivers `batches`, starting with event `first`. Uses its own node, because a backend
// reports its counters when it ends, and before that only now and then.
Cost deliver_fifth(const PostgresDatabase& database, const Witness& witness, int first,
                   int batches) {
  Cost cost;
  const double pages_before = pages(witness);
  const double entries_before = entries(witness);
  {
    InboxNode node(database.url(), 1);
    for (int i = 0; i < batches && !testing::Test::HasFatalFailure(); ++i) {
      EXPECT_EQ(node.admit(batch(first + i * kBatch)), kBatch);
      deliver(node, cost);
    }
  }
  witness.wait_until(
      "count(*) = 2 FROM pg_stat_activity WHERE datname = current_database()"
      " AND backend_type = 'client backend'");
  cost.pages = pages(witness) - pages_before;
  cost.entries = entries(witness) - entries_before;
  return cost;
}

TEST(InboxHeldTransactionTest, LeaseAndSettleCostDoesNotGrow) {
  PostgresDatabase database;
  {
    InboxNode makes_the_tables(database.url(), 1);
    EXPECT_EQ(makes_the_tables.admit(std::array{Post{"makes the days"}}), 1);
    EXPECT_EQ(makes_the_tables.ack(makes_the_tables.lease(1)), std::vector{Settled::ok});
  }
  const Witness witness(database.connect());
  keep_autovacuum_away(witness);
  const Witness holder(database.connect());
  holder.text("BEGIN ISOLATION LEVEL REPEATABLE READ");
  holder.text("SELECT txid_current()");

  const int fifth = rounds(150'000) / 5 / kBatch;  // in batches
  const double rows = fifth * kBatch;
  std::array<Cost, 5> costs;
  for (int i = 0; i < 5 && !testing::Test::HasFatalFailure(); ++i) {
    Cost& cost = costs[static_cast<std::size_t>(i)];
    cost = deliver_fifth(database, witness, i * fifth * kBatch, fifth);
    std::cout << "  fifth " << i + 1 << ", per row: " << cost.pages / rows << " pages, "
              << cost.entries / rows << " index entries, lease " << cost.lease_us / rows
              << " us, settle " << cost.settle_us / rows << " us\n";
  }
  const double dead =
      select_number(witness,
                    "sum(n_dead_tup) FROM pg_stat_user_tables WHERE schemaname = 'hapax'") /
      (5 * rows);
  holder.text("COMMIT");

  std::cout << "  deliveries: " << 5 * rows << "\n  dead tuples per delivery: " << dead << "\n";
  EXPECT_LE(costs[4].pages, 2 * costs[1].pages);
  if (rows >= 30'000) {  // a shorter run ends before kSlack (5 s) of entries exists
    EXPECT_LE(costs[4].entries, 2 * costs[1].entries);
  }
  EXPECT_LE(dead, 3.0);
}

}  // namespace
}  // namespace hapax::test
