// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

struct pg_conn;

namespace hapax::store::postgres {

// Cancels statements that missed their deadline, so that no backend keeps waiting for a lock. Best
// effort, and bounded: one thread and a queue of a few connections; connections beyond that are
// only closed. libpq's cancel request blocks, for long if the server does not answer, so callers do
// not wait for it. Thread-safe.
class Canceller {
 public:
  Canceller();
  // Waits briefly for a request in progress, then detaches its thread.
  ~Canceller();
  Canceller(const Canceller&) = delete;
  Canceller& operator=(const Canceller&) = delete;

  // Cancels the statement that runs on this connection, then closes the connection, of which it
  // takes ownership. In this order: a pooler forgets the server connection when the client leaves.
  void abandon(pg_conn* connection);

 private:
  struct Work;
  const std::shared_ptr<Work> work_;
};

}  // namespace hapax::store::postgres
