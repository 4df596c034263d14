// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

struct pg_conn;
struct pg_result;

namespace hapax::store::postgres {

// A server that gives up waiting for a synchronous standby has committed here, and perhaps nowhere
// else. Reported as a warning; its text is localized, its source location is not. For libpq as a
// notice receiver; sets the bool that `not_replicated` points to.
void note_standby(void* not_replicated, const pg_result* notice);

// Listens for that warning on the caller's connection while it lives, and passes every notice on.
// A connection with a notice receiver of the caller's own is left alone, because libpq does not
// tell what that one's argument is.
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
  Receiver usual_;  // libpq's own, which needs no argument
  bool watching_;
  bool not_replicated_ = false;
};

}  // namespace hapax::store::postgres
