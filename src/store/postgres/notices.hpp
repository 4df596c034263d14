// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

struct pg_conn;
struct pg_result;

namespace hapax::store::postgres {

// A notice receiver for libpq. Sets the bool that `not_replicated` points to if the server stopped
// waiting for a synchronous standby: the transaction is then committed on this server and perhaps
// on no other. The warning is recognized by its source location, because its text is localized.
void note_standby(void* not_replicated, const pg_result* notice);

// Detects that warning on the caller's connection while it lives, and forwards every notice. Does
// nothing on a connection with a notice receiver of the caller's own, because libpq does not reveal
// that receiver's argument.
class StandbyWatch {
 public:
  explicit StandbyWatch(pg_conn* connection);
  ~StandbyWatch();
  StandbyWatch(const StandbyWatch&) = delete;
  StandbyWatch& operator=(const StandbyWatch&) = delete;

  bool not_replicated() const { return not_replicated_; }

 private:
  using Receiver = void (*)(void*, const pg_result*);
  static void receive(void* watch, const pg_result* notice);

  pg_conn* connection_;
  Receiver usual_;  // libpq's default, which needs no argument
  bool watching_;
  bool not_replicated_ = false;
};

}  // namespace hapax::store::postgres
