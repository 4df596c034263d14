// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "crash/caller_db.hpp"

#include <sqlite3.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

// kill9_worker FILE JOURNAL_MODE FIRST LAST: does the jobs FIRST to LAST, each in its transaction,
// and writes the number of each to standard output, as eight bytes, once it is committed. It is
// killed somewhere on the way, and started again with some of the same jobs.
namespace hapax::test {
namespace {

int complain(const std::string& what) {
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
  if (!db) return complain("cannot open " + path);
  if (run(db.get(), "PRAGMA journal_mode=" + journal_mode) != SQLITE_OK ||
      make_caller_tables(db.get()) != SQLITE_OK) {
    return complain(sqlite3_errmsg(db.get()));
  }
  Result<SqliteSession> session = SqliteSession::attach(db.get());
  if (!session) return complain(session.error().to_string());
  for (std::int64_t job = first; job <= last; ++job) {
    const Result<void> done = do_one(*session, job);
    if (!done) return complain(done.error().to_string());
    if (write(STDOUT_FILENO, &job, sizeof job) != sizeof job) return complain("nobody listens");
  }
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace hapax::test

int main(int argc, char** argv) {
  if (argc != 5) return EXIT_FAILURE;
  return hapax::test::work(argv[1], argv[2], std::atoll(argv[3]), std::atoll(argv[4]));
}
