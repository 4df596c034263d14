// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "postgres/jobs.hpp"

#include "base/claim_key.hpp"
#include "base/hex.hpp"
#include "support/postgres.hpp"

#include <gtest/gtest.h>

namespace hapax::test {

namespace {

Result<void> run(PGconn* connection, const std::string& sql) {
  const std::unique_ptr<PGresult, decltype(&PQclear)> result(PQexec(connection, sql.c_str()),
                                                             &PQclear);
  if (PQresultStatus(result.get()) == PGRES_COMMAND_OK) return {};
  return Error(Code::work_failed, PQerrorMessage(connection));
}

Result<void> work_for(PostgresTx& tx, const std::string& id) {
  Result<void> inserted = run(tx.handle(), "INSERT INTO public.work VALUES('" + id + "')");
  if (!inserted) return inserted;
  Result<void> counted = run(tx.handle(), "UPDATE public.counter SET n = n + 1");
  if (!counted) return counted;
  Result<Enqueued> sent = outbox(tx).enqueue({.destination = "mail", .key = id, .payload = id});
  if (!sent) return std::move(sent).error();
  return {};
}

std::int64_t number(PGconn* connection, const std::string& sql) {
  return std::atoll(ask(connection, sql).c_str());
}

std::string bytea(std::string_view bytes) {
  return "decode('" + to_hex(bytes) + "', 'hex')";
}

}  // namespace

// Takes an advisory lock, because IF NOT EXISTS does not protect two processes that create the same
// table concurrently.
Result<void> make_caller_tables(PGconn* connection) {
  return run(connection,
             "BEGIN; SELECT pg_advisory_xact_lock(1);"
             "CREATE TABLE IF NOT EXISTS public.work(id text);"
             "CREATE TABLE IF NOT EXISTS public.counter(n bigint);"
             "INSERT INTO public.counter"
             " SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM public.counter); COMMIT");
}

Result<Once> do_job(PostgresTx& tx, const std::string& id) {
  return once(tx, {.scope = kJobs, .id = id},
              [&](PostgresTx& inner) { return work_for(inner, id); });
}

Result<Once> do_and_commit(PostgresSession& session, const std::string& id) {
  Result<PostgresTransaction> tx = session.begin();
  if (!tx) return std::move(tx).error();
  Result<Once> done = do_job(*tx, id);
  if (!done) return done;
  if (Result<void> committed = tx->commit(); !committed) return std::move(committed).error();
  return done;
}

Traces traces_of(PGconn* connection, const std::string& id) {
  const std::string key = claim_key(ClaimKind::id, kJobs, id);
  return {
      .claims = number(connection, "SELECT count(*) FROM hapax.claim WHERE key = " + bytea(key)),
      .rows = number(connection, "SELECT count(*) FROM public.work WHERE id = '" + id + "'"),
      .messages =
          number(connection, "SELECT count(*) FROM hapax.message WHERE payload = " + bytea(id))};
}

void expect_all_agree(PGconn* connection) {
  const std::int64_t rows = number(connection, "SELECT count(*) FROM public.work");
  EXPECT_EQ(number(connection, "SELECT count(DISTINCT id) FROM public.work"), rows);
  EXPECT_EQ(number(connection, "SELECT n FROM public.counter"), rows);
  EXPECT_EQ(number(connection, "SELECT count(*) FROM hapax.message"), rows);
  EXPECT_EQ(number(connection, "SELECT count(DISTINCT payload) FROM hapax.message"), rows);
  EXPECT_EQ(number(connection, "SELECT count(*) FROM hapax.claim"), 2 * rows);
}

}  // namespace hapax::test
