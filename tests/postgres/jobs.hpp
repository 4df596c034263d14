// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "support/traces.hpp"

#include <hapax/postgres.hpp>

#include <libpq-fe.h>

#include <string>

// The caller of hapax::once in these tests: its tables, its work, and the traces of both.
namespace hapax::test {

// Creates the caller's own tables if they do not exist.
Result<void> make_caller_tables(PGconn* connection);

// once() with work that inserts a row, counts it and enqueues a message, all named after `id`.
Result<Once> do_job(PostgresTx& tx, const std::string& id);
// do_job() in its own transaction.
Result<Once> do_and_commit(PostgresSession& session, const std::string& id);

Traces traces_of(PGconn* connection, const std::string& id);
// Expects work, claims, messages and counter to agree, without duplicates. Each job's message has a
// key and therefore its own claim.
void expect_all_agree(PGconn* connection);

}  // namespace hapax::test
