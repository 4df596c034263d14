// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/error.hpp>

#include <string>
#include <string_view>

namespace hapax::store::postgres {

// Converts a PostgreSQL error to an Error with cause and remedy. `state` is the SQLSTATE, empty if
// the server sent none. The server's own text never holds a password.
Error error_of(std::string_view state, std::string_view message, std::string_view doing);

// libpq's messages end with a newline and may have several lines. This makes them one line.
std::string one_line(std::string_view message);

// Rejects a server older than PostgreSQL 14. `version` is in libpq's format: 150003.
Result<void> refuse_old_server(int version);

// The connection broke, or no answer came in time, after the statement was sent.
Error answer_lost(std::string_view why);

// Whether the error is transient, so that the same statement may succeed if repeated: a conflict
// with another transaction, a broken or refused connection, a server that starts, stops or fails
// over.
bool is_passing(const Error& error);

// Whether a user or the server's statement_timeout cancelled the statement.
bool is_cancelled(const Error& error);

// Whether a constraint or a trigger rejected a row: its day has no partition, or its number belongs
// to another event.
bool is_refused(const Error& error);

}  // namespace hapax::store::postgres
