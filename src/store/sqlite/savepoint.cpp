// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/savepoint.hpp"

#include "base/try.hpp"

namespace hapax::store::sqlite {

Result<Savepoint> Savepoint::prepare(sqlite3* db, const std::string& name) {
  HAPAX_TRY_ASSIGN(set, Statement::prepare(db, "SAVEPOINT " + name));
  HAPAX_TRY_ASSIGN(release, Statement::prepare(db, "RELEASE " + name));
  HAPAX_TRY_ASSIGN(back, Statement::prepare(db, "ROLLBACK TO " + name));
  return Savepoint(db, std::move(set), std::move(release), std::move(back));
}

Result<void> Savepoint::set() {
  const Result<bool> done = Run(set_).step("set a savepoint");
  if (done) return {};
  roll_back(db_);
  return done.error();
}

Result<void> Savepoint::release() {
  HAPAX_TRY(Run(release_).step("release the savepoint"));
  return {};
}

bool Savepoint::undo() {
  if (!in_transaction(db_)) return false;
  Result<bool> back = Run(back_).step("roll back to the savepoint");
  if (back && release()) return true;
  // Interrupted: it is our transaction, and all of it goes. Otherwise the savepoint is missing.
  const bool ours = back || back.error().code() == Code::store_busy;
  return roll_back(db_) && ours;
}

}  // namespace hapax::store::sqlite
