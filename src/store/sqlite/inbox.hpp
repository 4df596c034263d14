// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "base/try.hpp"
#include "store/sqlite/catalog/names.hpp"
#include "store/sqlite/catalog/records.hpp"
#include "store/sqlite/catalog/rejects.hpp"
#include "store/sqlite/queue/admit.hpp"
#include "store/sqlite/queue/lease.hpp"
#include "store/sqlite/queue/messages.hpp"
#include "store/sqlite/queue/notes.hpp"
#include "store/sqlite/queue/replay.hpp"
#include "store/sqlite/queue/retention.hpp"
#include "store/sqlite/queue/settle.hpp"

namespace hapax::store::sqlite {

// All units that change the inbox, on one connection, inside write transactions that the caller
// begins and ends.
class Inbox {
 public:
  Inbox(sqlite3* handle, ClaimTable prepared, std::int64_t& fence_high_water)
      : db(handle),
        claims(std::move(prepared)),
        fences(db, fence_high_water),
        claim_index(db),
        queue(db),
        lanes(db, queue, fences),
        admitter(db, claim_index, queue, lanes),
        leaser(db, queue, lanes, fences),
        settler(db, queue, lanes),
        replayer(db, queue, lanes),
        retention(db, claim_index),
        notes(db),
        rejects(db),
        names(db),
        records(db),
        messages(db, claims, admitter, names) {}
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  // Called at the start, at the end and after the commit of every transaction.
  void start(std::int64_t now_ms) {
    if (!committed_) admitter.forget();
    committed_ = false;
    fences.start(now_ms);
    claim_index.start();
  }
  Result<void> finish() {
    HAPAX_TRY(admitter.write_deliveries());  // normally a no-op
    HAPAX_TRY(fences.save());
    return claim_index.finish();
  }
  void note_commit() {
    claim_index.note_commit();
    committed_ = true;
  }

  sqlite3* const db;
  ClaimTable claims;
  Fences fences;
  ClaimIndex claim_index;
  QueueTable queue;
  Lanes lanes;
  Admitter admitter;
  Leaser leaser;
  Settler settler;
  Replayer replayer;
  Retention retention;
  Notes notes;
  RejectTable rejects;
  Names names;
  Records records;
  Messages messages;

 private:
  bool committed_ = false;  // the last transaction
};

}  // namespace hapax::store::sqlite
