// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "base/claim_key.hpp"
#include "base/hex.hpp"
#include "store/driver.hpp"
#include "support/eventually.hpp"
#include "support/postgres.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hapax::test {

inline constexpr std::string_view kScope = "orders";

inline std::string hex(const Token& token) {
  return to_hex(store::view(token));
}

// Opens a store whose calls may time out, here or on the server. Opening is retried: a time-out
// there is not under test.
inline Store open_with_retries(const std::string& url, const OpenOptions& options) {
  std::optional<Result<Store>> store;
  const bool is_open = eventually([&] {
    store.emplace(open(url, options));
    return *store || !store->error().retryable();
  });
  EXPECT_TRUE(is_open && *store) << store->error().to_string();
  return std::move(*store).value();
}

// A store with a short time-out. Its schema is created first, with a long one.
inline Store open_with_short_timeout(const std::string& url, std::chrono::milliseconds timeout) {
  EXPECT_TRUE(migrate(url, {.timeout = kLongTimeout}));
  return open_with_retries(url, {.timeout = timeout});
}

// Repeats the requests with the same tokens until their outcome is known.
inline Result<std::vector<Dedup>> retry_until_known(Store& store,
                                                    std::span<const DedupRequest> requests) {
  std::optional<Result<std::vector<Dedup>>> answers;
  const bool is_known = eventually([&] {
    answers.emplace(store.dedup(requests));
    return *answers || !answers->error().retryable();
  });
  EXPECT_TRUE(is_known) << answers->error().to_string();
  return std::move(*answers);
}
inline Result<Dedup> retry_until_known(Store& store, const DedupRequest& request) {
  Result<std::vector<Dedup>> answers = retry_until_known(store, std::span(&request, 1));
  if (!answers) return std::move(answers).error();
  return answers->front();
}

// The test's own connection, which reads the true state of the database.
class Witness {
 public:
  explicit Witness(PgHandle connection) : connection_(std::move(connection)) {}

  std::string text(const std::string& sql) const { return ask(connection_.get(), sql); }
  int number(const std::string& sql) const { return std::atoi(text(sql).c_str()); }
  // Returns the SQLSTATE of a statement that may fail; empty on success.
  std::string failure_of(const std::string& sql) const {
    const std::unique_ptr<PGresult, decltype(&PQclear)> result(
        PQexec(connection_.get(), sql.c_str()), &PQclear);
    const char* state = PQresultErrorField(result.get(), PG_DIAG_SQLSTATE);
    return state == nullptr ? "" : state;
  }

  // Returns hex(token) of the claim; empty if the id is unclaimed.
  std::string holder_of(std::string_view id) const {
    return text("SELECT encode(token, 'hex') FROM hapax.claim WHERE key = decode('" + key_of(id) +
                "', 'hex')");
  }
  int claims() const { return number("SELECT count(*) FROM hapax.claim"); }

  // Waits until claims with a short ttl have expired.
  void wait_until_short_claims_expire() const {
    wait_until(
        "NOT EXISTS (SELECT FROM hapax.claim WHERE expires_at > clock_timestamp()"
        " AND expires_at < clock_timestamp() + interval '1 minute')");
  }

  // All claims: key to token, both in hexadecimal.
  std::map<std::string, std::string> holders() const {
    const std::unique_ptr<PGresult, decltype(&PQclear)> rows(
        PQexec(connection_.get(),
               "SELECT encode(key, 'hex'), encode(token, 'hex') FROM hapax.claim"),
        &PQclear);
    std::map<std::string, std::string> holders;
    for (int row = 0; row < PQntuples(rows.get()); ++row) {
      holders[PQgetvalue(rows.get(), row, 0)] = PQgetvalue(rows.get(), row, 1);
    }
    return holders;
  }
  static std::string key_of(std::string_view id) {
    return to_hex(claim_key(ClaimKind::id, kScope, id));
  }

  // Waits until the condition holds on the server.
  bool wait_until(const std::string& condition) const {
    return test::wait_until(connection_.get(), condition);
  }

  // Waits until a backend of this database other than `other_than` waits for `event`. Returns its
  // process id.
  std::string wait_for_backend(const std::string& event,
                               const std::string& other_than = "0") const {
    const std::string those =
        "FROM pg_stat_activity WHERE datname = current_database()"
        " AND wait_event = '" +
        event + "' AND pid <> " + other_than;
    wait_until("EXISTS (SELECT " + those + ")");
    return text("SELECT pid " + those);
  }

 private:
  PgHandle connection_;
};

// Autovacuum runs once a minute and reads the rows that a test counts.
inline void keep_autovacuum_away(const Witness& witness) {
  witness.text(
      "DO $$ DECLARE each regclass; BEGIN"
      " FOR each IN SELECT oid FROM pg_class WHERE relnamespace = 'hapax'::regnamespace"
      " AND relkind = 'r' LOOP"
      " EXECUTE format('ALTER TABLE %s SET (autovacuum_enabled = off)', each);"
      " END LOOP; END $$");
}

}  // namespace hapax::test
