// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/result.hpp>

#include <string>
#include <string_view>

namespace hapax::store::postgres {

// What PostgreSQL said, as an Error with cause and remedy. `state` is the SQLSTATE, empty when the
// server said nothing. The server's own text never holds a password.
Error error_of(std::string_view state, std::string_view message, std::string_view doing);

// libpq's messages end with a newline and may have several lines.
std::string one_line(std::string_view message);

// A server older than hapax can work with. `version` as libpq gives it: 150003.
Result<void> refuse_old_server(int version);

// The connection broke, or no answer came in time, after the statement was sent.
Error answer_lost(std::string_view why);

// The same statement may find the server well again: a conflict with another transaction, a broken
// or refused connection, a server that starts, stops or fails over.
bool is_passing(const Error& error);

// A person or the server's statement_timeout has ended the statement.
bool is_cancelled(const Error& error);

// A row of a table refused it: a day without a partition, or a number that is another's.
bool is_refused(const Error& error);

}  // namespace hapax::store::postgres
