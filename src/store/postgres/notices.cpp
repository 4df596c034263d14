// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/postgres/notices.hpp"

#include <libpq-fe.h>

#include <string_view>

namespace hapax::store::postgres {

namespace {

// libpq's default receiver, taken from a connection that is never established.
PQnoticeReceiver usual_receiver() {
  PGconn* never = PQconnectStart("=");
  const PQnoticeReceiver usual = PQsetNoticeReceiver(never, nullptr, nullptr);
  PQfinish(never);
  return usual;
}

}  // namespace

void note_standby(void* not_replicated, const pg_result* notice) {
  const char* source = PQresultErrorField(notice, PG_DIAG_SOURCE_FUNCTION);
  if (source != nullptr && std::string_view(source) == "SyncRepWaitForLSN") {
    *static_cast<bool*>(not_replicated) = true;
  }
}

StandbyWatch::StandbyWatch(pg_conn* connection)
    : connection_(connection),
      usual_(usual_receiver()),
      watching_(PQsetNoticeReceiver(connection, nullptr, nullptr) == usual_) {
  if (watching_) PQsetNoticeReceiver(connection_, &StandbyWatch::receive, this);
}

StandbyWatch::~StandbyWatch() {
  if (watching_) PQsetNoticeReceiver(connection_, usual_, nullptr);
}

void StandbyWatch::receive(void* watch, const pg_result* notice) {
  auto* self = static_cast<StandbyWatch*>(watch);
  note_standby(&self->not_replicated_, notice);
  self->usual_(nullptr, notice);
}

}  // namespace hapax::store::postgres
