// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/sqlite/catalog/names.hpp"
#include "store/sqlite/catalog/reading.hpp"
#include "store/sqlite/catalog/records.hpp"
#include "store/sqlite/catalog/rejects.hpp"
#include "store/sqlite/file/same_file.hpp"
#include "store/sqlite/file/store_time.hpp"

#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace hapax::store::sqlite {

// A read-only handle; each read has its own snapshot, so long searches do not block writers. Opened
// on first use. Thread-safe; one read at a time.
class Reader {
 public:
  Reader(std::string path, std::chrono::milliseconds busy_timeout, Clock& clock, SameFile& file)
      : path_(std::move(path)), busy_timeout_(busy_timeout), clock_(clock), file_(file) {}

  // The readable parts of the store, and store time.
  struct View {
    Reading& reading;
    RejectTable& rejects;
    Names& names;
    Records& records;
    std::int64_t now_ms;
  };
  Result<void> read(const std::function<Result<void>(View&)>& work);

  // Closes the handle; it stays closed as long as the lock is held. For callers that need exclusive
  // access.
  std::unique_lock<std::mutex> close();

 private:
  struct Handles {
    Handles(Handle reading_from, StoreTime store_time, Statement to_begin, Statement to_end)
        : db(std::move(reading_from)),
          time(std::move(store_time)),
          begin(std::move(to_begin)),
          end(std::move(to_end)),
          reading(db.get()),
          rejects(db.get()),
          names(db.get()),
          records(db.get()) {}
    Handle db;  // before the statements: they must be finalized before it closes
    StoreTime time;
    Statement begin;
    Statement end;
    Reading reading;
    RejectTable rejects;
    Names names;
    Records records;
  };
  Result<void> connect();
  Result<void> read_snapshot(const std::function<Result<void>(View&)>& work);

  const std::string path_;
  const std::chrono::milliseconds busy_timeout_;
  Clock& clock_;
  SameFile& file_;
  std::mutex mutex_;
  std::unique_ptr<Handles> handles_;
};

}  // namespace hapax::store::sqlite
