// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/file/database.hpp"

#include <exception>

namespace hapax::store::sqlite {

void FairMutex::lock() {
  std::unique_lock lock(mutex_);
  const std::uint64_t ticket = next_ticket_++;
  changed_.wait(lock, [&] { return serving_ == ticket; });
}

void FairMutex::unlock() {
  {
    const std::lock_guard lock(mutex_);
    ++serving_;
  }
  changed_.notify_all();
}

Result<void> Database::change(const Work& work) {
  const std::lock_guard lock(writing_);
  try {
    Result<void> done = writer_.transact([&](Writer& writer) -> Result<void> {
      Inbox& inbox = writer.inbox();
      HAPAX_TRY_ASSIGN(now_ms, inbox.claims.time().now_ms());
      inbox.start(now_ms);
      HAPAX_TRY(work(inbox, now_ms));
      return inbox.finish();
    });
    if (done) writer_.inbox().note_commit();
    return done;
  } catch (const std::exception& failure) {
    return Error(Code::outcome_unknown, failure.what());
  }
}

}  // namespace hapax::store::sqlite
