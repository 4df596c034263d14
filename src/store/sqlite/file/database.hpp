// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "base/try.hpp"
#include "store/sqlite/file/writer.hpp"

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>

namespace hapax::store::sqlite {

// A mutex that is granted in the order of the calls, so that a thread that locks it again and again
// lets the others in between.
class FairMutex {
 public:
  void lock();
  void unlock();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t next_ticket_ = 0;
  std::uint64_t serving_ = 0;
};

// The file behind all contracts of a SQLite store: one write transaction at a time, and readers.
// Thread-safe.
class Database {
 public:
  explicit Database(Writer writer) : writer_(std::move(writer)) {}

  // Runs `work` in a write transaction of its own, committed and synced on success. `work` may run
  // more than once; the last run counts.
  using Work = std::function<Result<void>(Inbox&, std::int64_t now_ms)>;
  Result<void> change(const Work& work);

  // As change(), for work with an answer.
  template <class T, class Each>
  Result<T> change(const Each& work) {
    std::optional<T> answer;
    HAPAX_TRY(change([&](Inbox& inbox, std::int64_t now_ms) -> Result<void> {
      HAPAX_TRY_ASSIGN(value, work(inbox, now_ms));
      answer = std::move(value);
      return {};
    }));
    return std::move(*answer);
  }

  // Runs `work` on a snapshot.
  template <class T, class Each>
  Result<T> read(const Each& work) {
    std::optional<T> answer;
    HAPAX_TRY(writer_.reader().read([&](Reader::View& view) -> Result<void> {
      HAPAX_TRY_ASSIGN(value, work(view));
      answer = std::move(value);
      return {};
    }));
    return std::move(*answer);
  }

 private:
  FairMutex writing_;
  Writer writer_;  // writing_ must be held, except for its reader
};

}  // namespace hapax::store::sqlite
