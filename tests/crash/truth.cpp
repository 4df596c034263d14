// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "crash/truth.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>

namespace hapax::test {

namespace {

std::vector<DedupRequest> requests_of(const Asked& call) {
  std::vector<DedupRequest> requests;
  for (std::size_t i = 0; i < call.ids.size(); ++i) {
    requests.push_back({.scope = kIds, .id = call.ids[i], .token = call.tokens[i]});
  }
  return requests;
}

void expect_ours(Store& store, const Asked& call) {
  const Result<std::vector<Dedup>> again = store.dedup(requests_of(call));
  ASSERT_TRUE(again) << again.error().to_string();
  for (const Dedup& each : *again) EXPECT_FALSE(each.duplicate) << "the same token asked again";
}

void expect_told_truly(Store& store, const Asked& call) {
  EXPECT_NE(call.failed, Outcome::happened);
  if (call.failed == Outcome::unknown) expect_ours(store, call);
  for (const std::string& id : call.ids) {
    const Result<Dedup> other = store.dedup({.scope = kIds, .id = id});
    ASSERT_TRUE(other) << other.error().to_string();
    EXPECT_EQ(other->duplicate, call.failed != Outcome::did_not_happen)
        << "'" << id << "' as another asks for it, after the answer "
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

// As a file has it whose migration met no fault.
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

// The work of these jobs never ends its transaction, so once() always knows.
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

void expect_job_told_truly(SqliteSession& session, sqlite3* db, const Job& job) {
  SCOPED_TRACE("job " + job.id + ", told: " + std::string(name(job.told)));
  const Traces found = traces_of(db, job.id);
  EXPECT_TRUE(found == kAll || found == kNothing) << found;
  EXPECT_FALSE(job.told == Outcome::happened && found != kAll);
  EXPECT_FALSE(job.told == Outcome::did_not_happen && found != kNothing);

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

Asked ask(World& world, Store& store, std::vector<std::string> ids) {
  Asked call{.ids = std::move(ids), .tokens = {}, .failed = {}};
  call.tokens.resize(call.ids.size());
  for (Token& token : call.tokens) world.random.fill(token.bytes);
  const Result<std::vector<Dedup>> answers = store.dedup(requests_of(call));
  if (!answers) {
    call.failed = answers.error().outcome();
    return call;
  }
  for (const Dedup& each : *answers) EXPECT_FALSE(each.duplicate) << "a free id is not a duplicate";
  return call;
}

std::vector<Asked> ask_for_ids(World& world, const std::string& path,
                               const std::function<void(Store*)>& before_close) {
  Result<Store> store = open("sqlite:" + path, world.options());
  if (!store) {
    before_close(nullptr);
    return {};
  }
  std::vector<Asked> asked;
  asked.push_back(ask(world, *store, {"one"}));
  asked.push_back(ask(world, *store, {"two", "three", "four"}));
  asked.push_back(ask(world, *store, {"five"}));
  before_close(&*store);
  return asked;
}

void expect_ids_told_truly(World& world, const std::string& path, const std::vector<Asked>& asked) {
  {
    Result<Store> store = open("sqlite:" + path, world.options());
    ASSERT_TRUE(store) << store.error().to_string();
    for (const Asked& call : asked) expect_told_truly(*store, call);
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

void expect_jobs_told_truly(World& world, const std::string& path, const std::vector<Job>& jobs) {
  const Db db = open_db(path);
  ASSERT_TRUE(db);
  {
    Result<SqliteSession> session = SqliteSession::attach(db.get(), world.session_options());
    ASSERT_TRUE(session) << session.error().to_string();
    for (const Job& job : jobs) expect_job_told_truly(*session, db.get(), job);
  }
  EXPECT_TRUE(counter_agrees(db.get()));
  EXPECT_EQ(integrity(db.get()), "ok");
}

std::size_t failures(const std::vector<Asked>& asked) {
  return static_cast<std::size_t>(std::count_if(
      asked.begin(), asked.end(), [](const Asked& call) { return call.failed.has_value(); }));
}

std::size_t failures(const std::vector<Job>& jobs) {
  return static_cast<std::size_t>(std::count_if(
      jobs.begin(), jobs.end(), [](const Job& job) { return job.told != Outcome::happened; }));
}

}  // namespace hapax::test
