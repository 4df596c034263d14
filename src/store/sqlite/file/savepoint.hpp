// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/sqlite/file/connection.hpp"

#include <string>

namespace hapax::store::sqlite {

// A savepoint inside the caller's own transaction. An interrupted statement may or may not have
// taken effect; if it is then uncertain which savepoints exist, the whole transaction is rolled
// back, because a claim must not be committed without its work.
class Savepoint {
 public:
  static Result<Savepoint> prepare(sqlite3* db, const std::string& name);

  // invalid_argument: a writing statement of the caller is in progress, and nothing has changed.
  // After any other error the transaction was rolled back, unless SQLite rejected that too: check
  // in_transaction().
  Result<void> set();
  Result<void> release();
  // Rolls back everything since set(). False if the transaction of set() no longer exists: the
  // caller's code has ended it, and perhaps begun another, which is rolled back.
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
