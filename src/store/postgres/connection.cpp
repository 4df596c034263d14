// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/postgres/connection.hpp"

#include "base/try.hpp"
#include "store/postgres/canceller.hpp"
#include "store/postgres/errors.hpp"
#include "store/postgres/notices.hpp"

#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>

namespace hapax::store::postgres {

namespace {

std::string_view text_or_empty(const char* text) {
  return text != nullptr ? text : "";
}

std::string_view state_of(const PGresult* result) {
  return text_or_empty(PQresultErrorField(result, PG_DIAG_SQLSTATE));
}

// The primary message only: detail and context may quote parameter values.
std::string_view message_of(const PGresult* result) {
  const char* primary = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  return primary != nullptr ? primary : text_or_empty(PQresultErrorMessage(result));
}

// The server or the connection has ended: the outcome of the statement is unknown.
bool is_end(std::string_view state) {
  return state.empty() || state.starts_with("57P");
}

bool succeeded(const PGresult* result) {
  const ExecStatusType status = PQresultStatus(result);
  return status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK;
}

Error misconfigured(std::string detail) {
  return Error(Code::misconfigured, std::move(detail));
}

// libpq reports no SQLSTATE for a refused connection; its text contains the server's message.
struct Refusal {
  std::string_view words;
  std::string_view state;
};

constexpr std::array kRefusals{
    Refusal{"password authentication failed", "28P01"},
    Refusal{"no password supplied", "28P01"},
    Refusal{"pg_hba.conf", "28000"},
    Refusal{"is not permitted to log in", "28000"},
    Refusal{"permission denied for database", "42501"},
    Refusal{"too many clients", "53300"},
    Refusal{"too many connections", "53300"},
    Refusal{"remaining connection slots", "53300"},
    Refusal{"session is read-only", "25006"},
};

Error connection_refused(PGconn* connection) {
  constexpr std::string_view kDoing = "connect";
  const std::string_view message = text_or_empty(PQerrorMessage(connection));
  const auto says = [&](std::string_view part) {
    return message.find(part) != std::string_view::npos;
  };
  for (const Refusal& each : kRefusals) {
    if (says(each.words)) return error_of(each.state, message, kDoing);
  }
  if (says("database \"") && says("does not exist")) return error_of("3D000", message, kDoing);
  if (says("role \"") && says("does not exist")) return error_of("28000", message, kDoing);
  // libpq itself could not parse a value.
  if (message.starts_with("invalid ")) {
    return misconfigured("PostgreSQL: cannot connect: " + one_line(message) + "; correct the URL");
  }
  return error_of("", message, kDoing);
}

}  // namespace

void QueryResult::Clear::operator()(pg_result* result) const {
  PQclear(result);
}

int QueryResult::rows() const {
  return PQntuples(result_.get());
}

std::string_view QueryResult::command() const {
  return PQcmdStatus(result_.get());
}

std::string_view QueryResult::field(int row, int column) const {
  return {PQgetvalue(result_.get(), row, column),
          static_cast<std::size_t>(PQgetlength(result_.get(), row, column))};
}

bool QueryResult::is_null(int row, int column) const {
  return PQgetisnull(result_.get(), row, column) != 0;
}

void Connection::Finish::operator()(pg_conn* connection) const {
  PQfinish(connection);
}

Connection::Connection(pg_conn* raw, const Clock& clock, Canceller* canceller)
    : notices_(std::make_unique<Notices>()),
      connection_(raw),
      clock_(&clock),
      canceller_(canceller) {
  PQsetNoticeReceiver(raw, &note_standby, &notices_->not_replicated);
}

Result<Connection> Connection::connect(const std::string& url, const Clock& clock, BootTime timeout,
                                       Canceller* canceller) {
  // Parameters before the URL are defaults that the URL can override. libpq applies the timeout to
  // each host of the URL in turn.
  const auto whole_seconds = std::chrono::ceil<std::chrono::seconds>(timeout).count();
  const std::string seconds = std::to_string(std::max<std::int64_t>(2, whole_seconds));
  const std::array<const char*, 6> names{"connect_timeout",  "application_name", "client_encoding",
                                         "tcp_user_timeout", "dbname",           nullptr};
  const std::string user_timeout = seconds + "000";
  const std::array<const char*, 6> values{seconds.c_str(),      "hapax",     "UTF8",
                                          user_timeout.c_str(), url.c_str(), nullptr};
  PGconn* raw = PQconnectdbParams(names.data(), values.data(), /*expand_dbname=*/1);
  if (raw == nullptr) return error_of("", "out of memory", "connect");
  Connection connection(raw, clock, canceller);
  if (PQstatus(raw) != CONNECTION_OK) return connection_refused(raw);
  PQsetnonblocking(raw, 1);
  HAPAX_TRY(connection.check_server(clock.since_boot() + timeout));
  return connection;
}

Result<QueryResult> check_result(pg_result* result, std::string_view doing) {
  QueryResult answer(result);
  if (succeeded(result)) return answer;
  return error_of(state_of(result), message_of(result), doing);
}

Result<void> check_settings(const QueryResult& answer) {
  if (answer.field(0, 0) == "off") {
    return misconfigured(
        "the PostgreSQL server runs with fsync=off and would lose what hapax has acknowledged; "
        "turn "
        "it on in postgresql.conf");
  }
  if (answer.field(0, 3) == "on") {
    return misconfigured(
        "the PostgreSQL server runs with data_sync_retry=on: after a failed sync it may treat lost "
        "data as durable; turn it off in postgresql.conf");
  }
  if (answer.field(0, 1) == "t" || answer.field(0, 2) == "on") {
    return error_of("25006", "every transaction begins as a read-only transaction", "write");
  }
  return {};
}

Result<void> Connection::check_server(BootTime deadline) {
  HAPAX_TRY(refuse_old_server(PQserverVersion(connection_.get())));
  HAPAX_TRY_ASSIGN(answer, run(kAskSettings, {}, deadline, "read the server's settings"));
  // A cancelled wait for a standby would show others a commit that the standby lacks.
  if (!answer.field(0, 4).empty()) canceller_ = nullptr;
  return check_settings(answer);
}

bool Connection::broken() const {
  return PQstatus(connection_.get()) != CONNECTION_OK;
}

bool Connection::wait_for_socket(short events, BootTime deadline) {
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - clock_->since_boot()).count();
    if (left <= 0) return false;
    pollfd wanted{.fd = PQsocket(connection_.get()), .events = events, .revents = 0};
    const int ready = poll(&wanted, 1, static_cast<int>(std::min<std::int64_t>(left, 60'000)));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

// A server that is also sending must be read while we write, or both block forever.
bool Connection::flush(BootTime deadline) {
  for (;;) {
    const int unsent = PQflush(connection_.get());
    if (unsent <= 0) return unsent == 0;
    if (!wait_for_socket(POLLIN | POLLOUT, deadline)) return false;
    if (PQconsumeInput(connection_.get()) == 0) return false;
  }
}

bool Connection::wait_for_input(BootTime deadline) {
  while (PQisBusy(connection_.get()) != 0) {
    if (!wait_for_socket(POLLIN, deadline)) return false;
    if (PQconsumeInput(connection_.get()) == 0) return false;
  }
  return true;
}

Error Connection::lost(std::string_view why) {
  std::string reason(text_or_empty(PQerrorMessage(connection_.get())));
  if (reason.empty()) reason = why;
  abandon();  // nothing more is sent about this, except a cancel request
  return answer_lost(reason);
}

void Connection::abandon() {
  if (canceller_ == nullptr || broken()) return connection_.reset();
  // The connection outlives the receiver's argument.
  PQsetNoticeReceiver(
      connection_.get(), [](void*, const PGresult*) {}, nullptr);
  canceller_->abandon(connection_.release());
}

Result<QueryResult> Connection::collect(BootTime deadline, std::string_view doing) {
  std::optional<QueryResult> answer;
  std::optional<Error> failure;
  for (;;) {
    if (!wait_for_input(deadline)) return lost("timed out");
    PGresult* result = PQgetResult(connection_.get());
    if (result == nullptr) break;
    if (!succeeded(result) && is_end(state_of(result))) {
      const QueryResult ended(result);
      return lost(message_of(result));
    }
    Result<QueryResult> part = check_result(result, doing);
    if (part) {
      answer.emplace(std::move(*part));
    } else {
      failure = std::move(part).error();
    }
  }
  if (broken()) return lost("the connection broke");
  if (notices_->not_replicated) return lost("the wait for the synchronous standby was cancelled");
  if (failure) return std::move(*failure);
  if (!answer) return lost("no response from the server");
  return std::move(*answer);
}

Result<QueryResult> Connection::run(const char* sql, const Parameters& parameters,
                                    BootTime deadline, std::string_view doing, Form form) {
  if (broken()) return error_of("", "the connection is closed", doing);
  notices_->not_replicated = false;
  const std::vector<const char*> values = parameters.values();
  const std::vector<int> lengths = parameters.lengths();
  const std::vector<int> formats = parameters.formats();
  const int queued =
      PQsendQueryParams(connection_.get(), sql, parameters.count(), parameters.types(),
                        values.data(), lengths.data(), formats.data(), form == Form::binary);
  // libpq may have written part of it already: from here on the outcome is unknown.
  if (queued == 0 || !flush(deadline)) return lost("the connection broke");
  return collect(deadline, doing);
}

Result<QueryResult> Connection::transact(const char* sql, const Parameters& parameters,
                                         BootTime deadline, std::int64_t lock_timeout_ms,
                                         std::string_view doing, Form form) {
  // If this process stalls in between, the server ends the transaction, and with it the locks,
  // after the same time.
  const std::string ms = std::to_string(lock_timeout_ms);
  const std::string begin = "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = " + ms +
                            "; SET LOCAL idle_in_transaction_session_timeout = " + ms;
  HAPAX_TRY(execute(begin.c_str(), deadline, doing));
  Result<QueryResult> answer = run(sql, parameters, deadline, doing, form);
  if (!answer) {
    if (!broken()) static_cast<void>(execute("ROLLBACK", deadline, doing).has_value());
    return answer;
  }
  HAPAX_TRY(execute("COMMIT", deadline, doing));
  return answer;
}

Result<QueryResult> Connection::execute(const char* sql, BootTime deadline,
                                        std::string_view doing) {
  if (broken()) return error_of("", "the connection is closed", doing);
  if (PQsendQuery(connection_.get(), sql) == 0 || !flush(deadline)) {
    return lost("the connection broke");
  }
  return collect(deadline, doing);
}

}  // namespace hapax::store::postgres
