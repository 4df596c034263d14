// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/result.hpp>

#include "store/sqlite/claim_log.hpp"
#include "store/sqlite/connection.hpp"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hapax::store::sqlite {

// Who has which event id. The index of ids (hapax_event_id) has them in the order of their
// keys, and ids come in none: an event would dirty a page of it, which has to be written twice, for
// fifty bytes. So a transaction appends its claims to a log (hapax_recent), and when that holds
// many of them they are moved into the index in the order of their keys, where a page then takes
// several at once. ADR 13 tells more.
//
// What is in the log is also in memory, as what its rows say when they are read one after the
// other: that is what an opened store does, and what it does with rows that others have written.
// Inside write transactions, on one connection.
//
// To its users it is find, put and commit (start, finish, note_commit); log, index and merge passes
// are its own affair. It decides under the write lock, so that nobody else claims between find and
// put. What holds at every commit:
//
// - Every claim that was put and not removed is in the log or in the index. Where both have its key
//   the log's is the newer.
// - Rows of the log are removed from the front only, when all their claims are in the index.
// - In memory is what committed rows say. After a rollback, or rows of others, it is made to agree
//   before the next answer; where it cannot be, the log is read anew or the answer is an error.
//
// The index is the referee after the fact: a claim that meets a live one of another event when it
// is moved there was admitted twice. That is counted (hapax_claim_fault) with the two events; the
// newer claim stays, as it was answered.
class ClaimIndex {
 public:
  explicit ClaimIndex(sqlite3* db);

  // Around the work of every transaction.
  void start();
  Result<void> finish();
  void note_commit();

  // Also of this transaction; also when it is over.
  Result<std::optional<EventClaim>> find(std::string_view key);
  // In place of the one that is there. After a find() in the same transaction.
  void put(std::string key, const EventClaim& claim) { fresh_[std::move(key)] = claim; }

  // True: all that are over are in the index, so that who walks it finds them. False: some may not
  // be yet, ask again in another transaction. At most `left` are merged, which is reduced by their
  // number.
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
  bool is_known_ = false;  // this is what the rows up to last_ say
  std::int64_t last_ = 0;
  std::int64_t chain_hash_ = 0;  // of that row

  // Of this transaction.
  bool has_caught_up_ = false;
  std::map<std::string, EventClaim, std::less<>> fresh_;
  bool has_merged_ = false;
  bool starts_pass_ = false;
  MergePosition merged_up_to_;
  std::vector<std::string> appended_;     // rows
  std::int64_t appended_chain_hash_ = 0;  // of the last
};

// The same for who only looks, without anything in memory.
class ClaimIndexReader {
 public:
  explicit ClaimIndexReader(sqlite3* db);

  // For each key.
  Result<std::vector<std::optional<EventClaim>>> find(const std::vector<std::string>& keys);

 private:
  Lazy read_;
  Lazy rows_;
};

}  // namespace hapax::store::sqlite
