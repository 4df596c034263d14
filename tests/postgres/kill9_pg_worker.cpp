// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "postgres/jobs.hpp"
#include "support/postgres.hpp"

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

// kill9_pg_worker URL FIRST LAST: does the jobs FIRST to LAST, each in its transaction, and writes
// the number of each to standard output, as eight bytes, once it is committed. It is killed
// somewhere on the way, and started again with some of the same jobs.
namespace hapax::test {
namespace {

int complain(const std::string& what) {
  std::fprintf(stderr, "kill9_pg_worker: %s\n", what.c_str());
  return EXIT_FAILURE;
}

int work(const char* url, std::int64_t first, std::int64_t last) {
  const PgHandle connection(PQconnectdb(url));
  if (PQstatus(connection.get()) != CONNECTION_OK)
    return complain(PQerrorMessage(connection.get()));
  Result<PostgresSession> session = PostgresSession::attach(connection.get());
  if (!session) return complain(session.error().to_string());
  for (std::int64_t job = first; job <= last; ++job) {
    const Result<Once> done = do_and_commit(*session, "job-" + std::to_string(job));
    if (!done) return complain(done.error().to_string());
    if (write(STDOUT_FILENO, &job, sizeof job) != sizeof job) return complain("nobody listens");
  }
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace hapax::test

int main(int argc, char** argv) {
  if (argc != 4) return EXIT_FAILURE;
  return hapax::test::work(argv[1], std::atoll(argv[2]), std::atoll(argv[3]));
}
