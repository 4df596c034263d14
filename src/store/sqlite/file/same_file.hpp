// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/error.hpp>

#include <sys/types.h>

#include <atomic>
#include <optional>
#include <string>

struct sqlite3;

namespace hapax::store::sqlite {

// Whether the paths of a database and of its log still refer to the open files. A backup that is
// moved into place leaves the open files without a name: commits to them are lost when they are
// closed.
//
// A replacement, once detected, is permanent. The new file may have other numbers for sources and
// nodes than the users of this store have in memory, so only a restart can use it.
class SameFile {
 public:
  explicit SameFile(std::string path) : path_(std::move(path)) {}

  // Records which files `db`, whose log must be open, has open: the database on the first call, the
  // log on every call, because SQLite creates a new one after all handles were closed.
  Result<void> note(sqlite3* db);

  // store_unavailable: a file was replaced or removed. For the thread that calls note().
  Result<void> check();
  // Checks the database alone. Thread-safe once note() has returned.
  Result<void> check_database();
  // Whether the path of the log still refers to the open log. SQLite removes logs by path.
  bool has_log() const;
  // To be called when no handle is open: the last process to close the file may remove its log.
  void forget_log() { log_.reset(); }
  // Whether check() has found a replacement.
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
  std::optional<Id> database_;  // nullopt: SQLite's VFS does not use this path; no check is made
  std::optional<Id> log_;
  std::atomic<bool> replaced_{false};
};

}  // namespace hapax::store::sqlite
