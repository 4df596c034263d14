// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "bench/must.hpp"
#include "bench/store/cases.hpp"
#include "bench/store/hand_written.hpp"
#include "bench/store/ids.hpp"

#include <hapax/sqlite.hpp>

#include <stdexcept>

namespace hapax::bench {

namespace {

constexpr double kOnceBudget = 0.9;
constexpr std::string_view kScope = "orders";
constexpr std::string_view kResult = R"({"payment":"pay_018f3c5e7a2b","status":"captured"})";

// The work that must happen once: one row in a table of the caller.
class Work {
 public:
  explicit Work(sqlite3* db) {
    execute(db, "CREATE TABLE payment(no INTEGER PRIMARY KEY, order_id BLOB, cents INTEGER)");
    insert_ = Query(db, "INSERT INTO payment(order_id, cents) VALUES(?1, ?2)");
  }

  void run(std::string_view order_id) {
    insert_.bind(1, order_id);
    insert_.bind(2, std::int64_t{4200});
    insert_.run();
  }

 private:
  Query insert_;
};

// The common part of both sides: the handle, the work, the ids and the loop.
class OnceSide : public Side {
 public:
  OnceSide(const std::string& path, IdOrder order, bool stores)
      : db_(open_database(path)), work_(db_.get()), ids_(order), stores_(stores) {}

  void prepare(std::size_t rows) override { next_ = ids_.next(rows); }

  void run() override {
    for (const std::string& id : next_) {
      if (!process(id)) throw std::runtime_error("an id that was never used is a duplicate");
    }
  }

 protected:
  // Runs one transaction. Returns false for a duplicate.
  virtual bool process(const std::string& id) = 0;

  sqlite3* db() { return db_.get(); }
  Work& work() { return work_; }
  bool stores() const { return stores_; }

 private:
  Database db_;
  Work work_;
  Ids ids_;
  bool stores_;
  std::vector<std::string> next_;
};

// Without a savepoint: failed work rolls back the whole transaction.
class HandWrittenOnce final : public OnceSide {
 public:
  HandWrittenOnce(const std::string& path, IdOrder order, bool stores)
      : OnceSide(path, order, stores) {
    execute(db(),
            "CREATE TABLE seen(key BLOB PRIMARY KEY, expires INTEGER, result BLOB) WITHOUT ROWID");
    begin_ = Query(db(), "BEGIN IMMEDIATE");
    claim_ = Query(db(), "INSERT INTO seen VALUES(?1, ?2, NULL) ON CONFLICT DO NOTHING");
    store_ = Query(db(), "UPDATE seen SET result = ?1 WHERE key = ?2");
    commit_ = Query(db(), "COMMIT");
  }

 private:
  bool process(const std::string& id) override {
    begin_.run();
    claim_.bind(1, id);
    claim_.bind(2, expiry_ms());
    const bool fresh = claim_.run() == 1;
    if (fresh) work().run(id);
    if (fresh && stores()) store(id);
    commit_.run();
    return fresh;
  }

  void store(const std::string& id) {
    store_.bind(1, kResult);
    store_.bind(2, id);
    store_.run();
  }

  Query begin_;
  Query claim_;
  Query store_;
  Query commit_;
};

class HapaxOnce final : public OnceSide {
 public:
  HapaxOnce(const std::string& path, IdOrder order, bool stores)
      : OnceSide(path, order, stores), session_(must(SqliteSession::attach(db()))) {}

 private:
  bool process(const std::string& id) override {
    SqliteTransaction tx = must(session_.begin());
    const Once done = must(once(tx, {.scope = kScope, .id = id}, [&](SqliteTx&) {
      work().run(id);
      return stores() ? std::string(kResult) : std::string();
    }));
    must(tx.commit());
    return !done.duplicate;
  }

  SqliteSession session_;
};

Case once_case(WorkDirectory& directory, IdOrder order, bool stores) {
  return {.name = std::string("once, ") + (stores ? "with result, " : "no result, ") +
                  std::string(name(order)),
          .budget = kOnceBudget,
          .unit = 1,
          .open = [&directory, order, stores] {
            return Pair{std::make_unique<HandWrittenOnce>(directory.fresh_file(), order, stores),
                        std::make_unique<HapaxOnce>(directory.fresh_file(), order, stores)};
          }};
}

}  // namespace

std::vector<Case> once_cases(WorkDirectory& directory) {
  std::vector<Case> cases;
  for (const bool stores : {false, true}) {
    for (const IdOrder order : {IdOrder::random, IdOrder::by_time}) {
      cases.push_back(once_case(directory, order, stores));
    }
  }
  return cases;
}

}  // namespace hapax::bench
