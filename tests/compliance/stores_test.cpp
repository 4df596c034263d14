// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// The compliance suite over every store of hapax.
#include <hapax/compliance.hpp>

#include "base/claim_key.hpp"
#include "base/try.hpp"
#include "store/memory/driver.hpp"
#include "support/postgres.hpp"
#include "support/world.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace hapax::test {
namespace {

class MemorySubject final : public compliance::Subject {
 public:
  MemorySubject() : store_(open("memory:", {.clock = &clock_}).value()) {}

  DedupStore& store() override { return store_; }
  void advance(std::chrono::milliseconds by) override { clock_.advance(by); }

 private:
  ManualClock clock_;
  Store store_;
};

// A store that implements claims and nothing else.
class ClaimsOnlySubject final : public compliance::Subject, private DedupStore {
 public:
  DedupStore& store() override { return *this; }
  void advance(std::chrono::milliseconds by) override { clock_.advance(by); }

 private:
  Result<std::vector<Dedup>> dedup(std::span<const DedupRequest> requests) override {
    std::vector<store::DedupItem> items;
    for (const DedupRequest& each : requests) {
      HAPAX_TRY(check(each));
      items.push_back({claim_key(ClaimKind::id, each.scope, each.id),
                       each.token.empty() ? make_token() : each.token, each.ttl});
    }
    return driver_.claims->dedup(items);
  }

  ManualClock clock_;
  store::Driver driver_ = claims_of(store::memory::make_driver(1'000'000, clock_));

  static store::Driver claims_of(const store::Driver& all) { return {all.owner, all.claims}; }
};

class SqliteSubject final : public compliance::Subject {
 public:
  SqliteSubject() { reopen(); }

  DedupStore& store() override { return *store_; }
  void advance(std::chrono::milliseconds by) override { clock_.advance(by); }
  void restart() override { reopen(); }

 private:
  void reopen() {
    store_.reset();
    store_.emplace(open("sqlite:" + directory_.file("store.db"), {.clock = &clock_}).value());
  }

  TempDir directory_;
  ManualClock clock_;
  std::optional<Store> store_;
};

class PostgresSubject : public compliance::Subject {
 public:
  PostgresSubject() { reopen(database_.url()); }

  DedupStore& store() override { return *store_; }
  void advance(std::chrono::milliseconds by) override { clock_.advance(by); }
  void restart() override { reopen(database_.url()); }

 protected:
  void reopen(const std::string& url) {
    store_.reset();
    store_.emplace(open(url, {.timeout = kLongTimeout, .clock = &clock_}).value());
  }
  PostgresDatabase database_;

 private:
  ManualClock clock_;
  std::optional<Store> store_;
};

class PgbouncerSubject final : public PostgresSubject {
 public:
  PgbouncerSubject() { restart(); }
  void restart() override { reopen(database_.url_through_pgbouncer()); }
};

// A database with serializable as the default isolation level.
class SerializableSubject final : public PostgresSubject {
 public:
  SerializableSubject() {
    ask_server("ALTER DATABASE " + database_.name() +
               " SET default_transaction_isolation = 'serializable'");
    restart();
  }
};

template <class Subject>
std::unique_ptr<compliance::Subject> make() {
  return std::make_unique<Subject>();
}

}  // namespace
}  // namespace hapax::test

int main(int argc, char** argv) {
  using namespace hapax;
  using namespace hapax::test;
  testing::InitGoogleTest(&argc, argv);
  compliance::add_dedup_suite("Memory", {.durable = false, .exact_time = true},
                              make<MemorySubject>);
  compliance::add_dedup_suite("ClaimsOnly", {.durable = false, .exact_time = true},
                              make<ClaimsOnlySubject>);
  const compliance::Traits durable{.durable = true, .exact_time = true};
  compliance::add_dedup_suite("Sqlite", durable, make<SqliteSubject>);
  compliance::add_dedup_suite("Postgres", durable, make<PostgresSubject>);
  compliance::add_dedup_suite("Pgbouncer", durable, make<PgbouncerSubject>);
  compliance::add_dedup_suite("Serializable", {.exact_time = true}, make<SerializableSubject>);
  return RUN_ALL_TESTS();
}
