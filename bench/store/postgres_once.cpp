// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "bench/must.hpp"
#include "bench/store/cases.hpp"
#include "bench/store/hand_written.hpp"
#include "bench/store/ids.hpp"
#include "bench/store/postgres.hpp"

#include <hapax/postgres.hpp>

#include <stdexcept>

namespace hapax::bench {

namespace {

constexpr std::string_view kScope = "orders";
constexpr std::string_view kResult = R"({"payment":"pay_018f3c5e7a2b","status":"captured"})";

// The common part of both sides: the connection, the work, the ids and the loop.
class PgOnceSide : public Side {
 public:
  PgOnceSide(const std::string& url, IdOrder order, bool stores)
      : connection_(connect(url)), ids_(order), stores_(stores) {
    execute(connection(),
            "CREATE TABLE public.payment(no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
            " order_id bytea, cents bigint)");
  }

  void prepare(std::size_t rows) override { next_ = ids_.next(rows); }

  void run() override {
    for (const std::string& id : next_) {
      if (!process(id)) throw std::runtime_error("an id that was never used is a duplicate");
    }
  }

 protected:
  // Runs one transaction. Returns false for a duplicate.
  virtual bool process(const std::string& id) = 0;

  // The work that must happen once: one row in a table of the caller.
  void work(const std::string& id) {
    const std::array<PgValue, 2> values{bytes_value(id), number_value(4200)};
    execute(connection(), "INSERT INTO public.payment(order_id, cents) VALUES ($1, $2)", values);
  }
  PGconn* connection() { return connection_.get(); }
  bool stores() const { return stores_; }

 private:
  PgHandle connection_;
  Ids ids_;
  bool stores_;
  std::vector<std::string> next_;
};

// Without a savepoint: failed work rolls back the whole transaction.
class HandWrittenPgOnce final : public PgOnceSide {
 public:
  HandWrittenPgOnce(const std::string& url, IdOrder order, bool stores)
      : PgOnceSide(url, order, stores) {
    execute(connection(),
            "CREATE TABLE seen(key bytea PRIMARY KEY, expires bigint NOT NULL, result bytea)");
  }

 private:
  bool process(const std::string& id) override {
    execute(connection(), "BEGIN");
    const std::array<PgValue, 2> claim{bytes_value(id), number_value(expiry_ms())};
    const bool fresh =
        rows_of(execute(connection(), "INSERT INTO seen VALUES ($1, $2) ON CONFLICT DO NOTHING",
                        claim)) == 1;
    if (fresh) work(id);
    if (fresh && stores()) store(id);
    execute(connection(), "COMMIT");
    return fresh;
  }

  void store(const std::string& id) {
    const std::array<PgValue, 2> values{bytes_value(kResult), bytes_value(id)};
    execute(connection(), "UPDATE seen SET result = $1 WHERE key = $2", values);
  }
};

class HapaxPgOnce final : public PgOnceSide {
 public:
  HapaxPgOnce(const std::string& url, IdOrder order, bool stores)
      : PgOnceSide(url, order, stores), session_(must(PostgresSession::attach(connection()))) {}

 private:
  bool process(const std::string& id) override {
    PostgresTransaction tx = must(session_.begin());
    const Once done = must(once(tx, {.scope = kScope, .id = id}, [&](PostgresTx&) {
      work(id);
      return stores() ? std::string(kResult) : std::string();
    }));
    must(tx.commit());
    return !done.duplicate;
  }

  PostgresSession session_;
};

Case once_case(PostgresPlace& place, IdOrder order, bool stores) {
  return {.name = std::string("postgres once, ") + (stores ? "with result, " : "no result, ") +
                  std::string(name(order)),
          .budget = std::nullopt,
          .unit = 1,
          .open = [&place, order, stores] {
            return Pair{std::make_unique<HandWrittenPgOnce>(place.fresh_url(), order, stores),
                        std::make_unique<HapaxPgOnce>(place.fresh_url(), order, stores)};
          }};
}

}  // namespace

std::vector<Case> postgres_once_cases(PostgresPlace& place) {
  std::vector<Case> cases;
  for (const bool stores : {false, true}) {
    cases.push_back(once_case(place, IdOrder::random, stores));
  }
  return cases;
}

}  // namespace hapax::bench
