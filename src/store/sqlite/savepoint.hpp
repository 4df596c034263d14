// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/sqlite/connection.hpp"

#include <string>

namespace hapax::store::sqlite {

// A savepoint inside a foreign transaction. An interrupted statement may or may not have taken
// effect; where that leaves it open which savepoints there are, the whole transaction is rolled
// back, because a claim must not be committed without its work.
class Savepoint {
 public:
  static Result<Savepoint> prepare(sqlite3* db, const std::string& name);

  // invalid_argument: a statement of the caller's that writes is in progress, and nothing has
  // changed. After any other error the transaction is over, unless SQLite refuses even that:
  // in_transaction() tells.
  Result<void> set();
  Result<void> release();
  // Takes back everything since set(). False when the transaction in which it was set is not there
  // any more: the caller's code has ended it, and perhaps begun another, which is rolled back.
  bool undo();

 private:
  Savepoint(sqlite3* db, Statement set, Statement release, Statement back)
      : db_(db), set_(std::move(set)), release_(std::move(release)), back_(std::move(back)) {}

  sqlite3* db_;
  Statement set_;
  Statement release_;
  Statement back_;
};

}  // namespace hapax::store::sqlite
