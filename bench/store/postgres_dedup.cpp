// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "bench/store/cases.hpp"
#include "bench/store/dedup_sides.hpp"
#include "bench/store/hand_written.hpp"
#include "bench/store/postgres.hpp"

#include <algorithm>

namespace hapax::bench {

namespace {

constexpr double kBatchedBudget = 0.8;

// The variants of the hand-written loop. `whole` is the minimum with the same answers: the
// statement replaces expired ids, batches lock in one order, and an index finds removable ids.
// `bare` omits all three: an id is a duplicate until it is deleted, which requires a table scan,
// and two batches may deadlock.
enum class ByHand : std::uint8_t { whole, bare };

constexpr const char* kBareTable =
    "CREATE TABLE seen(key bytea PRIMARY KEY, expires bigint NOT NULL)";
constexpr const char* kWholeTable =
    "CREATE TABLE seen(key bytea PRIMARY KEY, expires timestamptz NOT NULL);"
    "CREATE INDEX ON seen USING brin (expires) WITH (pages_per_range = 32)";

// One statement per batch, which is its own transaction.
class HandWrittenPgDedup final : public BatchedDedup {
 public:
  HandWrittenPgDedup(const std::string& url, IdOrder order, std::size_t batch, ByHand how)
      : BatchedDedup(order, batch), connection_(connect(url)), how_(how) {
    execute(connection_.get(), how == ByHand::bare ? kBareTable : kWholeTable);
  }

 private:
  std::size_t claim(std::span<const std::string> ids) override {
    if (how_ == ByHand::whole) return claim_or_take_over(ids);
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

  std::size_t claim_or_take_over(std::span<const std::string> ids) {
    sorted_.assign(ids.begin(), ids.end());
    std::sort(sorted_.begin(), sorted_.end());
    const std::array<PgValue, 2> values{bytes_array(sorted_),
                                        number_array(ids.size(), kDefaultTtl.count())};
    return rows_of(
        execute(connection_.get(),
                "INSERT INTO seen SELECT w.key, clock_timestamp() + w.ttl * interval '1 ms'"
                " FROM unnest($1, $2) AS w (key, ttl)"
                " ON CONFLICT (key) DO UPDATE SET expires = excluded.expires"
                " WHERE seen.expires <= clock_timestamp() RETURNING key",
                values));
  }

  PgHandle connection_;
  ByHand how_;
  std::vector<std::string> sorted_;
};

Case batched(PostgresPlace& place, std::size_t batch, IdOrder order, ByHand how) {
  const std::string shape = batch == 1 ? "single" : "batches of " + std::to_string(batch);
  const bool judged = batch > 1 && how == ByHand::whole;
  return {.name = "postgres dedup, " + shape + ", " + std::string(name(order)) +
                  (how == ByHand::bare ? ", bare" : ""),
          .budget = judged ? std::optional(kBatchedBudget) : std::nullopt,
          .unit = batch,
          .open = [&place, batch, order, how] {
            return Pair{std::make_unique<HandWrittenPgDedup>(place.fresh_url(), order, batch, how),
                        std::make_unique<StoreDedup>(place.fresh_url(), order, batch)};
          }};
}

// The hand-written loop stays single-threaded, because it has no group commit.
Case threaded(PostgresPlace& place, std::size_t threads, IdOrder order) {
  return {.name = "postgres dedup, " + std::to_string(threads) + " threads, " +
                  std::string(name(order)),
          .budget = std::nullopt,
          .unit = threads,
          .open = [&place, threads, order] {
            return Pair{
                std::make_unique<HandWrittenPgDedup>(place.fresh_url(), order, 1, ByHand::whole),
                std::make_unique<ThreadedDedup>(place.fresh_url(), order, threads)};
          }};
}

}  // namespace

std::vector<Case> postgres_dedup_cases(PostgresPlace& place) {
  std::vector<Case> cases;
  for (const std::size_t batch : {1U, 64U, 256U}) {
    for (const IdOrder order : {IdOrder::random, IdOrder::by_time}) {
      cases.push_back(batched(place, batch, order, ByHand::whole));
      if (batch > 1) cases.push_back(batched(place, batch, order, ByHand::bare));
    }
  }
  cases.push_back(threaded(place, 64, IdOrder::random));
  return cases;
}

}  // namespace hapax::bench
