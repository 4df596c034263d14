// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

struct pg_conn;

namespace hapax::store::postgres {

// Cancels statements whose caller has given up, so that no backend stays behind waiting for a lock.
// Best effort, and bounded: one thread, a few connections in its queue; those beyond are only
// closed. libpq's cancel request blocks, and for long where the server does not answer, so callers
// do not wait for it. Thread-safe.
class Canceller {
 public:
  Canceller();
  // Waits a moment for a request under way, then leaves it to itself.
  ~Canceller();
  Canceller(const Canceller&) = delete;
  Canceller& operator=(const Canceller&) = delete;

  // Cancels what the server does for this connection, then closes it. In this order: a pooler
  // forgets which server connection it was when the client leaves.
  void abandon(pg_conn* connection);

 private:
  struct Work;
  const std::shared_ptr<Work> work_;
};

}  // namespace hapax::store::postgres
