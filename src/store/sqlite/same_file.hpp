// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/result.hpp>

#include <sys/types.h>

#include <atomic>
#include <optional>
#include <string>

struct sqlite3;

namespace hapax::store::sqlite {

// Whether the names of a database and of its log still lead to the files that are open. A backup
// that is moved into place leaves the open files without a name: what is committed to them is lost
// when they are closed.
//
// Once they do not, this says so for good. The new file may have other numbers for sources and
// nodes than those who use this store have in memory, so only a new start can use it.
class SameFile {
 public:
  explicit SameFile(std::string path) : path_(std::move(path)) {}

  // Notes what `db`, which has opened its log, has open: the database the first time, the log each
  // time, because it is made anew when it was closed by all.
  Result<void> note(sqlite3* db);

  // store_unavailable: they were replaced or removed. For the thread that calls note().
  Result<void> check();
  // Of the database alone. Thread-safe once note() has returned.
  Result<void> check_database();
  // Whether the log that is open still has its name. SQLite removes logs by name.
  bool has_log() const;
  // When no handle is open: the last process to close the file may remove its log.
  void forget_log() { log_.reset(); }
  // Whether check() has found that they were replaced.
  bool is_replaced() const { return replaced_; }

 private:
  struct Id {
    dev_t device;
    ino_t number;
    friend bool operator==(const Id&, const Id&) = default;
  };
  static Result<std::optional<Id>> id_of(const std::string& path);
  Result<void> compare(const std::string& path, const std::optional<Id>& id);

  const std::string path_;
  std::string log_path_;
  std::optional<Id> database_;  // nothing: SQLite's VFS keeps it elsewhere, and no check is made
  std::optional<Id> log_;
  std::atomic<bool> replaced_{false};
};

}  // namespace hapax::store::sqlite
