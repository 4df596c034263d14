// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/error.hpp>

#include "store/sqlite/claims/claim_log.hpp"
#include "store/sqlite/file/connection.hpp"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hapax::store::sqlite {

// The claims of event ids. The index of ids (hapax_event_id) is ordered by key, and ids arrive
// unordered: each event would dirty an index page, written twice, for fifty bytes. Transactions
// therefore append claims to a log (hapax_recent), which is merged into the index in key order,
// many claims per page (ADR 13).
//
// Memory mirrors the log rows, read in order when the store is opened, including rows of other
// processes. Used inside write transactions, on one connection.
//
// Interface: find, put and commit (start, finish, note_commit); log, index and merge passes are
// internal. The write lock prevents claims between find and put. Invariants at every commit:
//
// - Every live claim is in the log or the index; if both have the key, the log is newer.
// - Log rows are deleted from the front, after all their claims are merged.
// - Memory equals the committed rows. After a rollback or foreign rows it is resynchronized before
//   the next answer; otherwise the log is read again or the answer is an error.
//
// The index verifies later: a merged claim that meets a live claim of another event was admitted
// twice. That is counted (hapax_claim_fault) with both events; the newer claim stays, as it was
// answered.
class ClaimIndex {
 public:
  explicit ClaimIndex(sqlite3* db);

  // Called at the start, at the end and after the commit of every transaction.
  void start();
  Result<void> finish();
  void note_commit();

  // Includes claims of this transaction and expired ones.
  Result<std::optional<EventClaim>> find(std::string_view key);
  // Replaces an existing claim. Only after a find() in the same transaction.
  void put(std::string key, const EventClaim& claim) { fresh_[std::move(key)] = claim; }

  // True: all expired claims are in the index, so that a scan finds them. False: some may still be
  // in the log; call again in another transaction. Merges at most `left` claims and reduces it by
  // their number.
  Result<bool> flush_expired(std::size_t& left, std::int64_t now_ms);

 private:
  Result<void> catch_up();
  Result<void> read_rows();
  Result<std::size_t> merge(std::size_t most);
  Result<void> index(std::span<const KeyedClaim> claims);
  Result<bool> index_if_new(std::span<const KeyedClaim> claims);
  Result<void> index_one(const KeyedClaim& claim);
  Result<void> check_took_over(const KeyedClaim& claim);
  Result<void> append_rows();
  Result<void> remove_rows();
  Result<std::optional<std::int64_t>> first_row_if_merged();

  Lazy read_;
  Lazy index_one_new_;
  Lazy index_again_;
  Lazy index_new_;
  Lazy received_;
  Lazy note_double_;
  Lazy end_;
  Lazy rows_;
  Lazy first_row_;
  Lazy append_;
  Lazy remove_;

  ClaimLog log_;
  bool is_known_ = false;  // memory matches the rows up to last_
  std::int64_t last_ = 0;
  std::int64_t chain_hash_ = 0;  // of that row

  // State of this transaction.
  bool has_caught_up_ = false;
  std::map<std::string, EventClaim, std::less<>> fresh_;
  bool has_merged_ = false;
  bool starts_pass_ = false;
  MergePosition merged_up_to_;
  std::vector<std::string> appended_;     // rows
  std::int64_t appended_chain_hash_ = 0;  // of the last
};

// For readers: no in-memory state.
class ClaimIndexReader {
 public:
  explicit ClaimIndexReader(sqlite3* db);

  // One element per key.
  Result<std::vector<std::optional<EventClaim>>> find(const std::vector<std::string>& keys);

 private:
  Lazy read_;
  Lazy rows_;
};

}  // namespace hapax::store::sqlite
