// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "postgres/inbox_node.hpp"
#include "postgres/witness.hpp"

#include <algorithm>
#include <array>
#include <iostream>
#include <vector>

// Somebody holds a transaction open, so that the server cannot remove what is over while deliveries
// flow. The queue must not become slower by it.
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

// Of each batch, in microseconds. The middle one counts: a neighbour who takes the processor for a
// while makes some batches slow, not half of them.
struct Cost {
  std::vector<double> lease;
  std::vector<double> settle;
};

double per_row(std::vector<double> batches) {
  const auto middle = batches.begin() + static_cast<std::ptrdiff_t>(batches.size() / 2);
  std::nth_element(batches.begin(), middle, batches.end());
  return *middle / kBatch;
}

// Leases and settles what one batch has brought, and adds what that took.
void deliver(InboxNode& node, Cost& cost) {
  const auto begin = steady_clock::now();
  const std::vector<Leased> leases = node.lease(kBatch);
  const auto leased = steady_clock::now();
  const std::vector<Settled> settled = node.ack(leases);
  const auto end = steady_clock::now();
  ASSERT_EQ(leases.size(), static_cast<std::size_t>(kBatch));
  ASSERT_EQ(std::count(settled.begin(), settled.end(), Settled::ok), kBatch);
  cost.lease.push_back(duration<double, std::micro>(leased - begin).count());
  cost.settle.push_back(duration<double, std::micro>(end - leased).count());
}

// Backends tell what they did within a second or so.
int dead_tuples(const Witness& witness) {
  witness.text("SELECT pg_sleep(1.5)");
  return witness.number(
      "SELECT sum(n_dead_tup) FROM pg_stat_user_tables WHERE schemaname = 'hapax'");
}

TEST(InboxHeldTransactionTest, LeaseAndSettleStayAsFastAsTheyWere) {
  PostgresDatabase database;
  InboxNode node(database.url(), 1);
  const Witness holder(database.connect());
  holder.text("BEGIN ISOLATION LEVEL REPEATABLE READ");
  holder.text("SELECT txid_current()");

  const int fifth = rounds(150'000) / 5 / kBatch;  // in batches
  std::array<Cost, 5> costs;
  for (int i = 0; i < 5 * fifth && !testing::Test::HasFatalFailure(); ++i) {
    ASSERT_EQ(node.admit(batch(i * kBatch)), kBatch);
    deliver(node, costs[static_cast<std::size_t>(i / fifth)]);
  }
  const double deliveries = 5.0 * fifth * kBatch;
  const Witness witness(database.connect());
  const double dead = dead_tuples(witness) / deliveries;
  holder.text("COMMIT");

  for (std::size_t i = 0; i < costs.size(); ++i) {
    std::cout << "  fifth " << i + 1 << ": lease " << per_row(costs[i].lease) << " us, settle "
              << per_row(costs[i].settle) << " us per row\n";
  }
  std::cout << "  deliveries: " << deliveries << "\n  dead tuples per delivery: " << dead << "\n";
  EXPECT_LE(per_row(costs[4].lease), 2 * per_row(costs[1].lease));
  EXPECT_LE(per_row(costs[4].settle), 2 * per_row(costs[1].settle));
  EXPECT_LE(dead, 3.0);
}

}  // namespace
}  // namespace hapax::test
