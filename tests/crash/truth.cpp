// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "crash/truth.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>

namespace hapax::test {

namespace {

std::vector<DedupRequest> requests_of(const ClaimCall& call) {
  std::vector<DedupRequest> requests;
  for (std::size_t i = 0; i < call.ids.size(); ++i) {
    requests.push_back({.scope = kIds, .id = call.ids[i], .token = call.tokens[i]});
  }
  return requests;
}

void expect_ours(Store& store, const ClaimCall& call) {
  const Result<std::vector<Dedup>> again = store.dedup(requests_of(call));
  ASSERT_TRUE(again) << again.error().to_string();
  for (const Dedup& each : *again) EXPECT_FALSE(each.duplicate) << "a repeat with the same token";
}

void expect_claim_exact(Store& store, const ClaimCall& call) {
  EXPECT_NE(call.failed, Outcome::happened);
  if (call.failed == Outcome::unknown) expect_ours(store, call);
  for (const std::string& id : call.ids) {
    const Result<Dedup> other = store.dedup({.scope = kIds, .id = id});
    ASSERT_TRUE(other) << other.error().to_string();
    EXPECT_EQ(other->duplicate, call.failed != Outcome::did_not_happen)
        << "'" << id << "' claimed by another caller, after the answer "
        << (call.failed ? name(*call.failed) : "success");
  }
}

void expect_integrity(const std::string& path) {
  const Db db = open_db(path);
  ASSERT_TRUE(db);
  EXPECT_EQ(integrity(db.get()), "ok");
}

std::string schema_of(sqlite3* db) {
  return text(db,
              "SELECT group_concat(sql, ';') FROM (SELECT sql FROM sqlite_schema ORDER BY name)");
}

// Returns the schema after an undisturbed migration.
std::string whole_schema() {
  const TempDir dir;
  World world;
  const Db db = open_db(dir.file("whole.db"));
  EXPECT_TRUE(SqliteSession::attach(db.get(), world.session_options()));
  return schema_of(db.get());
}

void expect_first_claim(World& world, const std::string& path) {
  Result<Store> store = open("sqlite:" + path, world.options());
  ASSERT_TRUE(store) << store.error().to_string();
  const Result<Dedup> first = store->dedup({.scope = kIds, .id = "first"});
  ASSERT_TRUE(first) << first.error().to_string();
  EXPECT_FALSE(first->duplicate);
}

Outcome commit_by_hand(sqlite3* db) {
  const int code = run(db, "COMMIT");
  if (code == SQLITE_OK) return Outcome::happened;
  if (sqlite3_get_autocommit(db) == 0) run(db, "ROLLBACK");
  return Outcome::unknown;
}

// The work of these jobs never ends its transaction, so once() always has a certain outcome.
Outcome outcome_of(const Result<Once>& failed) {
  EXPECT_EQ(failed.error().outcome(), Outcome::did_not_happen) << failed.error().to_string();
  return failed.error().outcome();
}

Outcome join_and_do(SqliteSession& session, sqlite3* db, Way way, const std::string& id) {
  if (run(db, "BEGIN IMMEDIATE") != SQLITE_OK && sqlite3_get_autocommit(db) != 0) {
    return Outcome::did_not_happen;
  }
  Result<SqliteTx> tx = session.join();
  const Result<Once> done = tx ? do_job(*tx, id) : Result<Once>(tx.error());
  if (done) return commit_by_hand(db);
  if (way == Way::join_and_commit_anyway) {
    commit_by_hand(db);
  } else if (sqlite3_get_autocommit(db) == 0) {
    run(db, "ROLLBACK");
  }
  return outcome_of(done);
}

Outcome begin_and_do(SqliteSession& session, const std::string& id) {
  Result<SqliteTransaction> tx = session.begin();
  if (!tx) return tx.error().outcome();
  const Result<Once> done = do_job(*tx, id);
  if (!done) return outcome_of(done);
  const Result<void> committed = tx->commit();
  return committed ? Outcome::happened : committed.error().outcome();
}

void expect_job_exact(SqliteSession& session, sqlite3* db, const Job& job) {
  SCOPED_TRACE("job " + job.id + ", outcome: " + std::string(name(job.outcome)));
  const Traces found = traces_of(db, job.id);
  EXPECT_TRUE(found == kAll || found == kNothing) << found;
  EXPECT_FALSE(job.outcome == Outcome::happened && found != kAll);
  EXPECT_FALSE(job.outcome == Outcome::did_not_happen && found != kNothing);

  Result<SqliteTransaction> tx = session.begin();
  ASSERT_TRUE(tx) << tx.error().to_string();
  const Result<Once> again = do_job(*tx, job.id);
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_EQ(again->duplicate, found == kAll);
  ASSERT_TRUE(tx->commit());
  EXPECT_EQ(traces_of(db, job.id), kAll);
}

}  // namespace

std::string make_first_file(const TempDir& dir, const std::string& journal_mode) {
  std::string path = dir.file("first.db");
  World world;
  const Db db = open_db(path);
  EXPECT_EQ(run(db.get(), "PRAGMA journal_mode=" + journal_mode), SQLITE_OK);
  EXPECT_EQ(make_caller_tables(db.get()), SQLITE_OK);
  EXPECT_TRUE(SqliteSession::attach(db.get(), world.session_options()));
  return path;
}

void expect_store_complete(World& world, const std::string& path) {
  expect_first_claim(world, path);
  const Db db = open_db(path);
  ASSERT_TRUE(db);
  for (const char* table : {"hapax_schema", "hapax_clock", "hapax_purge"}) {
    EXPECT_EQ(number(db.get(), std::string("SELECT count(*) FROM ") + table), 1) << table;
  }
  EXPECT_EQ(schema_of(db.get()), whole_schema());
  EXPECT_EQ(integrity(db.get()), "ok");
}

ClaimCall claim_new(World& world, Store& store, std::vector<std::string> ids) {
  ClaimCall call{.ids = std::move(ids), .tokens = {}, .failed = {}};
  call.tokens.resize(call.ids.size());
  for (Token& token : call.tokens) world.random.fill(token.bytes);
  const Result<std::vector<Dedup>> answers = store.dedup(requests_of(call));
  if (!answers) {
    call.failed = answers.error().outcome();
    return call;
  }
  for (const Dedup& each : *answers)
    EXPECT_FALSE(each.duplicate) << "an unclaimed id is not a duplicate";
  return call;
}

std::vector<ClaimCall> run_claims(World& world, const std::string& path,
                                  const std::function<void(Store*)>& before_close) {
  Result<Store> store = open("sqlite:" + path, world.options());
  if (!store) {
    before_close(nullptr);
    return {};
  }
  std::vector<ClaimCall> calls;
  calls.push_back(claim_new(world, *store, {"one"}));
  calls.push_back(claim_new(world, *store, {"two", "three", "four"}));
  calls.push_back(claim_new(world, *store, {"five"}));
  before_close(&*store);
  return calls;
}

void expect_claims_exact(World& world, const std::string& path,
                         const std::vector<ClaimCall>& calls) {
  {
    Result<Store> store = open("sqlite:" + path, world.options());
    ASSERT_TRUE(store) << store.error().to_string();
    for (const ClaimCall& call : calls) expect_claim_exact(*store, call);
  }
  expect_integrity(path);
}

std::vector<Job> run_jobs(World& world, const std::string& path, Way way, const std::string& set_up,
                          const std::function<void()>& before_close) {
  std::vector<Job> jobs;
  const Db db = open_db(path);
  if (db) {
    run(db.get(), set_up);
    Result<SqliteSession> session = SqliteSession::attach(db.get(), world.session_options());
    for (const char* id : {"first", "second"}) {
      if (!session) break;
      jobs.push_back({id, way == Way::begin ? begin_and_do(*session, id)
                                            : join_and_do(*session, db.get(), way, id)});
    }
  }
  before_close();
  return jobs;
}

void expect_jobs_exact(World& world, const std::string& path, const std::vector<Job>& jobs) {
  const Db db = open_db(path);
  ASSERT_TRUE(db);
  {
    Result<SqliteSession> session = SqliteSession::attach(db.get(), world.session_options());
    ASSERT_TRUE(session) << session.error().to_string();
    for (const Job& job : jobs) expect_job_exact(*session, db.get(), job);
  }
  EXPECT_TRUE(counter_agrees(db.get()));
  EXPECT_EQ(integrity(db.get()), "ok");
}

std::size_t failures(const std::vector<ClaimCall>& calls) {
  return static_cast<std::size_t>(std::count_if(
      calls.begin(), calls.end(), [](const ClaimCall& call) { return call.failed.has_value(); }));
}

std::size_t failures(const std::vector<Job>& jobs) {
  return static_cast<std::size_t>(std::count_if(
      jobs.begin(), jobs.end(), [](const Job& job) { return job.outcome != Outcome::happened; }));
}

}  // namespace hapax::test
