// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "bench/store/cases.hpp"
#include "bench/store/dedup_sides.hpp"
#include "bench/store/hand_written.hpp"
#include "bench/store/postgres.hpp"

namespace hapax::bench {

namespace {

constexpr double kBatchedBudget = 0.8;

// One statement for each batch, which is a transaction of its own.
class HandWrittenPgDedup final : public BatchedDedup {
 public:
  HandWrittenPgDedup(const std::string& url, IdOrder order, std::size_t batch)
      : BatchedDedup(order, batch), connection_(connect(url)) {
    execute(connection_.get(), "CREATE TABLE seen(key bytea PRIMARY KEY, expires bigint NOT NULL)");
  }

 private:
  std::size_t claim(std::span<const std::string> ids) override {
    if (ids.size() == 1) return claim_one(ids.front());
    const std::array<PgValue, 2> values{bytes_array(ids), number_array(ids.size(), expiry_ms())};
    return rows_of(execute(connection_.get(),
                           "INSERT INTO seen SELECT * FROM unnest($1, $2)"
                           " ON CONFLICT DO NOTHING RETURNING key",
                           values));
  }

  std::size_t claim_one(const std::string& id) {
    const std::array<PgValue, 2> values{bytes_value(id), number_value(expiry_ms())};
    return rows_of(execute(connection_.get(),
                           "INSERT INTO seen VALUES ($1, $2) ON CONFLICT DO NOTHING", values));
  }

  PgHandle connection_;
};

Case batched(PostgresPlace& place, std::size_t batch, IdOrder order) {
  const std::string shape = batch == 1 ? "single" : "batches of " + std::to_string(batch);
  return {.name = "postgres dedup, " + shape + ", " + std::string(name(order)),
          .budget = batch == 1 ? std::nullopt : std::optional(kBatchedBudget),
          .unit = batch,
          .open = [&place, batch, order] {
            return Pair{std::make_unique<HandWrittenPgDedup>(place.fresh_url(), order, batch),
                        std::make_unique<StoreDedup>(place.fresh_url(), order, batch)};
          }};
}

// The hand-written loop has one thread here too: sharing a commit is what it does not do.
Case threaded(PostgresPlace& place, std::size_t threads, IdOrder order) {
  return {.name = "postgres dedup, " + std::to_string(threads) + " threads, " +
                  std::string(name(order)),
          .budget = std::nullopt,
          .unit = threads,
          .open = [&place, threads, order] {
            return Pair{std::make_unique<HandWrittenPgDedup>(place.fresh_url(), order, 1),
                        std::make_unique<ThreadedDedup>(place.fresh_url(), order, threads)};
          }};
}

}  // namespace

std::vector<Case> postgres_dedup_cases(PostgresPlace& place) {
  std::vector<Case> cases;
  for (const std::size_t batch : {1U, 64U, 256U}) {
    for (const IdOrder order : {IdOrder::random, IdOrder::by_time}) {
      cases.push_back(batched(place, batch, order));
    }
  }
  cases.push_back(threaded(place, 64, IdOrder::random));
  return cases;
}

}  // namespace hapax::bench
