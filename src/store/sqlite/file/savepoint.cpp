// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/file/savepoint.hpp"

#include "base/try.hpp"

#include <sqlite3.h>

namespace hapax::store::sqlite {

namespace {

// SQLite reports SQLITE_BUSY if it refuses to set or release a savepoint: nothing has changed.
bool was_refused(sqlite3* db) {
  return (sqlite3_errcode(db) & 0xff) == SQLITE_BUSY;
}

Error statement_in_progress(std::string_view doing) {
  return Error(Code::invalid_argument,
               "cannot " + std::string(doing) +
                   ": a statement that writes is in progress on this handle, such as an UPDATE ... "
                   "RETURNING that has more rows to give; step it to its end or reset it first");
}

}  // namespace

Result<Savepoint> Savepoint::prepare(sqlite3* db, const std::string& name) {
  HAPAX_TRY_ASSIGN(set, Statement::prepare(db, "SAVEPOINT " + name));
  HAPAX_TRY_ASSIGN(release, Statement::prepare(db, "RELEASE " + name));
  HAPAX_TRY_ASSIGN(back, Statement::prepare(db, "ROLLBACK TO " + name));
  return Savepoint(db, std::move(set), std::move(release), std::move(back));
}

Result<void> Savepoint::set() {
  const Result<bool> done = Run(set_).step("set a savepoint");
  if (done) return {};
  if (was_refused(db_)) return statement_in_progress("set a savepoint");
  roll_back(db_);
  return done.error();
}

Result<void> Savepoint::release() {
  const Result<bool> done = Run(release_).step("release the savepoint");
  if (done) return {};
  return was_refused(db_) ? statement_in_progress("release the savepoint") : done.error();
}

bool Savepoint::undo() {
  if (!in_transaction(db_)) return false;
  Result<bool> back = Run(back_).step("roll back to the savepoint");
  if (back && release()) return true;
  // Interrupted: the transaction is ours and is rolled back. Otherwise the savepoint is missing.
  const bool ours = back || back.error().code() == Code::store_busy;
  return roll_back(db_) && ours;
}

}  // namespace hapax::store::sqlite
