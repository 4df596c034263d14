// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "support/traces.hpp"

#include <hapax/postgres.hpp>

#include <libpq-fe.h>

#include <string>

// The program that uses hapax::once in these tests: its tables, its work, and what of both is there
// afterwards.
namespace hapax::test {

// The caller's own tables, where they are not there yet.
Result<void> make_caller_tables(PGconn* connection);

// once() with work that inserts a row, counts it and enqueues a message, all named after `id`.
Result<Once> do_job(PostgresTx& tx, const std::string& id);
// ... in a transaction of its own.
Result<Once> do_and_commit(PostgresSession& session, const std::string& id);

Traces traces_of(PGconn* connection, const std::string& id);
// Work, claims, messages and counter agree, and nothing is there twice. Each job's message has a
// key, and so a claim of its own.
void expect_all_agree(PGconn* connection);

}  // namespace hapax::test
