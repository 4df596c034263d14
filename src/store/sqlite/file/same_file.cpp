// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/file/same_file.hpp"

#include "base/try.hpp"

#include <sqlite3.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

namespace hapax::store::sqlite {

// nullopt: no such file.
Result<std::optional<SameFile::Id>> SameFile::id_of(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) == 0) return std::optional(Id{found.st_dev, found.st_ino});
  if (errno == ENOENT || errno == ENOTDIR) return std::optional<Id>();
  return Error(Code::store_unavailable,
               "cannot stat " + path + ": " + std::strerror(errno) + "; check its permissions");
}

Result<void> SameFile::note(sqlite3* db) {
  if (log_path_.empty()) {
    log_path_ = sqlite3_filename_wal(sqlite3_db_filename(db, "main"));
    HAPAX_TRY_ASSIGN(database, id_of(path_));
    database_ = database;
  }
  HAPAX_TRY_ASSIGN(log, id_of(log_path_));
  log_ = log;
  return check_database();
}

Result<void> SameFile::check() {
  HAPAX_TRY(check_database());
  return compare(log_path_, log_);
}

Result<void> SameFile::check_database() {
  return compare(path_, database_);
}

bool SameFile::has_log() const {
  const Result<std::optional<Id>> now = id_of(log_path_);
  return now && *now == log_;
}

Result<void> SameFile::compare(const std::string& path, const std::optional<Id>& id) {
  if (!id) return {};
  if (!replaced_) {
    HAPAX_TRY_ASSIGN(now, id_of(path));
    if (now == id) return {};
    replaced_ = true;
  }
  return Error(Code::store_unavailable,
               path_ +
                   " or its write-ahead log was replaced or removed while it was open; stop this "
                   "program, remove " +
                   path_ + "-wal and " + path_ +
                   "-shm unless they belong to the new file, and start it again");
}

}  // namespace hapax::store::sqlite
