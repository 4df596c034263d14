// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "crash/caller_db.hpp"

#include <sqlite3.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

// kill9_worker FILE JOURNAL_MODE FIRST LAST: does the jobs FIRST to LAST, each in its own
// transaction, and writes each job's number to standard output, as eight bytes, once it is
// committed. The test kills it at random and restarts it with some of the same jobs.
namespace hapax::test {
namespace {

int fail(const std::string& what) {
  std::fprintf(stderr, "kill9_worker: %s\n", what.c_str());
  return EXIT_FAILURE;
}

Result<void> do_one(SqliteSession& session, std::int64_t job) {
  Result<SqliteTransaction> tx = session.begin();
  if (!tx) return std::move(tx).error();
  Result<Once> done = do_job(*tx, "job-" + std::to_string(job));
  if (!done) return std::move(done).error();
  return tx->commit();
}

int work(const std::string& path, const std::string& journal_mode, std::int64_t first,
         std::int64_t last) {
  const Db db = open_db(path);
  if (!db) return fail("cannot open " + path);
  if (run(db.get(), "PRAGMA journal_mode=" + journal_mode) != SQLITE_OK ||
      make_caller_tables(db.get()) != SQLITE_OK) {
    return fail(sqlite3_errmsg(db.get()));
  }
  Result<SqliteSession> session = SqliteSession::attach(db.get());
  if (!session) return fail(session.error().to_string());
  for (std::int64_t job = first; job <= last; ++job) {
    const Result<void> done = do_one(*session, job);
    if (!done) return fail(done.error().to_string());
    if (write(STDOUT_FILENO, &job, sizeof job) != sizeof job)
      return fail("cannot write to standard output");
  }
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace hapax::test

int main(int argc, char** argv) {
  if (argc != 5) return EXIT_FAILURE;
  return hapax::test::work(argv[1], argv[2], std::atoll(argv[3]), std::atoll(argv[4]));
}
