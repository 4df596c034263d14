// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "postgres/jobs.hpp"
#include "support/postgres.hpp"

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

// kill9_pg_worker URL FIRST LAST: does the jobs FIRST to LAST, each in its own transaction, and
// writes each job's number to standard output, as eight bytes, once it is committed. The test kills
// it at random and restarts it with some of the same jobs.
namespace hapax::test {
namespace {

int fail(const std::string& what) {
  std::fprintf(stderr, "kill9_pg_worker: %s\n", what.c_str());
  return EXIT_FAILURE;
}

int work(const char* url, std::int64_t first, std::int64_t last) {
  const PgHandle connection(PQconnectdb(url));
  if (PQstatus(connection.get()) != CONNECTION_OK) return fail(PQerrorMessage(connection.get()));
  Result<PostgresSession> session = PostgresSession::attach(connection.get());
  if (!session) return fail(session.error().to_string());
  for (std::int64_t job = first; job <= last; ++job) {
    const Result<Once> done = do_and_commit(*session, "job-" + std::to_string(job));
    if (!done) return fail(done.error().to_string());
    if (write(STDOUT_FILENO, &job, sizeof job) != sizeof job)
      return fail("cannot write to standard output");
  }
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace hapax::test

int main(int argc, char** argv) {
  if (argc != 4) return EXIT_FAILURE;
  return hapax::test::work(argv[1], std::atoll(argv[2]), std::atoll(argv[3]));
}
