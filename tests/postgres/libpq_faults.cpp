// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "postgres/libpq_faults.hpp"

#include <libpq-fe.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <optional>
#include <vector>

extern "C" {
PGconn* __real_PQconnectdbParams(const char* const* names, const char* const* values, int expand);
int __real_PQsendQueryParams(PGconn* connection, const char* sql, int count, const Oid* types,
                             const char* const* values, const int* lengths, const int* formats,
                             int result_format);
int __real_PQsendQuery(PGconn* connection, const char* sql);
int __real_PQflush(PGconn* connection);
int __real_PQconsumeInput(PGconn* connection);
PGresult* __real_PQgetResult(PGconn* connection);
PGresult* __real_PQexec(PGconn* connection, const char* sql);
PGresult* __real_PQexecParams(PGconn* connection, const char* sql, int count, const Oid* types,
                              const char* const* values, const int* lengths, const int* formats,
                              int result_format);
int __real_poll(pollfd* sockets, nfds_t count, int timeout_ms);
}

namespace hapax::test {

namespace {

// Global state: the libpq functions below cannot take a context.
std::optional<LibpqFault> armed;
int calls_left = 0;
Lasting armed_for = Lasting::no;

// The fault of the current call, if any.
std::optional<LibpqFault> fault_now() {
  if (!armed) return std::nullopt;
  if (calls_left == 0) return armed_for == Lasting::yes ? armed : std::nullopt;
  return --calls_left == 0 ? armed : std::nullopt;
}

void cut(int socket) {
  if (socket >= 0) shutdown(socket, SHUT_RDWR);
}

// Makes a call that returns `failed` on failure.
template <class Call, class Value>
Value make_call(int socket, Value failed, Call call) {
  const std::optional<LibpqFault> fault = fault_now();
  if (fault == LibpqFault::refused) return failed;
  if (fault == LibpqFault::cut_before) cut(socket);
  const Value value = call();
  if (fault == LibpqFault::cut_after) cut(socket);
  return fault == LibpqFault::answer_dropped ? failed : value;
}

// Simulates libpq without memory for a result. Without memory for an error result either, it
// returns null.
template <class Call>
PGresult* make_call_for_result(PGconn* connection, bool may_be_null, Call call) {
  const std::optional<LibpqFault> fault = fault_now();
  const auto fail = [&] {
    return may_be_null ? nullptr : PQmakeEmptyPGresult(connection, PGRES_FATAL_ERROR);
  };
  if (fault == LibpqFault::refused) return fail();
  if (fault == LibpqFault::cut_before) cut(PQsocket(connection));
  PGresult* result = call();
  if (fault == LibpqFault::cut_after) cut(PQsocket(connection));
  if (fault != LibpqFault::answer_dropped || result == nullptr) return result;
  PQclear(result);
  return fail();
}

PGconn* connect_to_nowhere(const char* const* names, const char* const* values, int expand) {
  std::vector<const char*> more_names;
  std::vector<const char*> more_values;
  for (; *names != nullptr; ++names, ++values) {
    more_names.push_back(*names);
    more_values.push_back(*values);
  }
  for (const char* name : {"host", static_cast<const char*>(nullptr)}) {
    more_names.push_back(name);
    more_values.push_back(name == nullptr ? nullptr : "/nowhere");
  }
  return __real_PQconnectdbParams(more_names.data(), more_values.data(), expand);
}

}  // namespace

std::string_view name(LibpqFault fault) {
  switch (fault) {
    case LibpqFault::cut_before:
      return "CutBefore";
    case LibpqFault::cut_after:
      return "CutAfter";
    case LibpqFault::refused:
      return "Refused";
    case LibpqFault::answer_dropped:
      break;
  }
  return "AnswerDropped";
}

std::ostream& operator<<(std::ostream& out, LibpqFault fault) {
  return out << name(fault);
}

FailCall::FailCall(LibpqFault fault, int nth, Lasting lasting) {
  armed = fault;
  armed_for = lasting;
  calls_left = nth;
}

FailCall::~FailCall() {
  armed.reset();
}

bool FailCall::reached() const {
  return calls_left == 0;
}

}  // namespace hapax::test

using namespace hapax::test;

extern "C" {

PGconn* __wrap_PQconnectdbParams(const char* const* names, const char* const* values, int expand) {
  const std::optional<LibpqFault> fault = fault_now();
  if (fault == LibpqFault::refused) return nullptr;
  if (fault == LibpqFault::cut_before) return connect_to_nowhere(names, values, expand);
  PGconn* connection = __real_PQconnectdbParams(names, values, expand);
  if (fault == LibpqFault::cut_after) cut(PQsocket(connection));
  if (fault != LibpqFault::answer_dropped) return connection;
  PQfinish(connection);
  return nullptr;
}

int __wrap_PQsendQueryParams(PGconn* connection, const char* sql, int count, const Oid* types,
                             const char* const* values, const int* lengths, const int* formats,
                             int result_format) {
  return make_call(PQsocket(connection), 0, [&] {
    return __real_PQsendQueryParams(connection, sql, count, types, values, lengths, formats,
                                    result_format);
  });
}

int __wrap_PQsendQuery(PGconn* connection, const char* sql) {
  return make_call(PQsocket(connection), 0, [&] { return __real_PQsendQuery(connection, sql); });
}

int __wrap_PQflush(PGconn* connection) {
  return make_call(PQsocket(connection), -1, [&] { return __real_PQflush(connection); });
}

int __wrap_PQconsumeInput(PGconn* connection) {
  return make_call(PQsocket(connection), 0, [&] { return __real_PQconsumeInput(connection); });
}

// Never fails with null, because null means that there are no more results.
PGresult* __wrap_PQgetResult(PGconn* connection) {
  return make_call_for_result(connection, false, [&] { return __real_PQgetResult(connection); });
}

PGresult* __wrap_PQexec(PGconn* connection, const char* sql) {
  return make_call_for_result(connection, true, [&] { return __real_PQexec(connection, sql); });
}

PGresult* __wrap_PQexecParams(PGconn* connection, const char* sql, int count, const Oid* types,
                              const char* const* values, const int* lengths, const int* formats,
                              int result_format) {
  return make_call_for_result(connection, false, [&] {
    return __real_PQexecParams(connection, sql, count, types, values, lengths, formats,
                               result_format);
  });
}

// A failure of poll() is an interruption by a signal, which can happen at any time.
int __wrap_poll(pollfd* sockets, nfds_t count, int timeout_ms) {
  errno = EINTR;
  return make_call(count > 0 ? sockets[0].fd : -1, -1,
                   [&] { return __real_poll(sockets, count, timeout_ms); });
}

}  // extern "C"
