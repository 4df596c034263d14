// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/claims/claim_index.hpp"

#include "base/sha256.hpp"
#include "base/try.hpp"
#include "store/claims.hpp"
#include "store/sqlite/inbox_statements.hpp"

#include <sqlite3.h>

#include <algorithm>

namespace hapax::store::sqlite {

namespace {

constexpr std::string_view kReadingClaims = "read the claims of events";
constexpr std::string_view kMerging = "merge claims into the index";

// A pass merges twice as many claims as the previous one, so that it is always large relative to
// the index, up to a limit of memory: about 100 bytes per claim.
constexpr std::size_t kClaimsOfFirstPass = 4;
constexpr std::int64_t kDoublings = 14;
constexpr std::size_t kClaimsOfRow = 256;
// Merges per new claim, so that a pass ends before the next one is due.
constexpr std::size_t kMergesForOne = 2;
// Rows are removed many at a time, which saves most transactions a dirty page, and faster than they
// are appended, so that they do not accumulate.
constexpr std::int64_t kRowsAtOnce = 16;
constexpr std::int64_t kRemovedForOne = 4;

std::size_t claims_until(std::int64_t pass) {
  return kClaimsOfFirstPass << std::clamp<std::int64_t>(pass, 0, kDoublings);
}

Error damaged() {
  return Error(Code::store_corrupt,
               "the table hapax_recent is damaged, and with it the ids of recent events; restore "
               "the file from a backup");
}

// The hash of a row and of all rows before it: two different logs differ in all hashes from the
// first difference on, even if a file was restored under an open store.
std::int64_t chain_hash_of(std::int64_t before, const MergePosition& merged_up_to,
                           std::string_view claims) {
  const Digest digest = sha256_of_parts(
      {std::to_string(before), std::to_string(merged_up_to.pass), merged_up_to.key, claims});
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < sizeof hash; ++i) hash |= std::uint64_t{digest[i]} << (8 * i);
  return static_cast<std::int64_t>(hash);
}

// From SQLite: only its unpredictability matters.
SipKey random_key() {
  SipKey key;
  sqlite3_randomness(sizeof key, &key);
  return key;
}

Result<std::optional<EventClaim>> read_index(Lazy& statement, std::string_view key) {
  Run row(statement);
  HAPAX_TRY_ASSIGN(found, row.bind(key).step(kReadingClaims));
  if (!found) return std::optional<EventClaim>();
  return std::optional(EventClaim{EventNo(row.number(0)), row.number(1)});
}

void bind_claim(Run& row, const KeyedClaim& claim) {
  row.bind(claim.key).bind(claim.claim.event.value()).bind(claim.claim.expires_ms);
}

}  // namespace

ClaimIndex::ClaimIndex(sqlite3* db)
    : read_(db, kReadEventClaim),
      index_one_new_(db, kIndexNewEventClaim),
      index_again_(db, kReindexEventClaim),
      index_new_(db, kIndexNewEventClaims),
      received_(db, kReadReceived),
      note_double_(db, kNoteDoubleClaim),
      end_(db, kEndOfRecent),
      rows_(db, kRecentAfter),
      first_row_(db, kFirstRecent),
      append_(db, kAppendRecent),
      remove_(db, kRemoveRecent),
      log_(random_key()) {}

void ClaimIndex::start() {
  if (has_merged_) log_.rewind();
  has_caught_up_ = has_merged_ = starts_pass_ = false;
  fresh_.clear();
  appended_.clear();
}

// If the last row that was read still exists, no later row was missed: rows are removed from the
// front.
Result<void> ClaimIndex::catch_up() {
  if (has_caught_up_) return {};
  std::int64_t last = 0;
  {
    Run row(end_);
    HAPAX_TRY(row.bind(last_).step(kReadingClaims));
    last = row.number(0);
    is_known_ = is_known_ && row.maybe(1) == chain_hash_;
  }
  if (!is_known_) {
    log_.clear();
    last_ = 0;
  }
  if (last != last_) {
    is_known_ = false;
    HAPAX_TRY(read_rows());
  }
  is_known_ = has_caught_up_ = true;
  return {};
}

Result<void> ClaimIndex::read_rows() {
  Run rows(rows_);
  rows.bind(last_);
  for (;;) {
    HAPAX_TRY_ASSIGN(more, rows.step(kReadingClaims));
    if (!more) return {};
    const std::int64_t seq = rows.number(0);
    const MergePosition merged_up_to{rows.number(2), std::string(rows.bytes(3))};
    const bool is_next =
        last_ == 0 || (seq == last_ + 1 &&
                       rows.number(1) == chain_hash_of(chain_hash_, merged_up_to, rows.bytes(4)));
    if (!is_next || !log_.read(merged_up_to, std::string(rows.bytes(4)))) return damaged();
    last_ = seq;
    chain_hash_ = rows.number(1);
  }
}

Result<std::optional<EventClaim>> ClaimIndex::find(std::string_view key) {
  HAPAX_TRY(catch_up());
  if (const auto own = fresh_.find(key); own != fresh_.end()) return std::optional(own->second);
  if (const std::optional<EventClaim> known = log_.find(key)) return known;
  return read_index(read_, key);
}

Result<bool> ClaimIndex::flush_expired(std::size_t& left, std::int64_t now_ms) {
  HAPAX_TRY(catch_up());
  if (!log_.has_expired(now_ms)) return true;
  if (log_.is_pass_finished()) {
    starts_pass_ = !has_merged_;
    return false;
  }
  HAPAX_TRY_ASSIGN(merged, merge(left));
  left -= merged;
  return false;
}

Result<std::size_t> ClaimIndex::merge(std::size_t most) {
  std::vector<KeyedClaim> claims;
  while (claims.size() < most) {
    has_merged_ = true;
    const std::optional<KeyedClaim> next = log_.take();
    if (!next) break;
    claims.push_back(*next);
  }
  HAPAX_TRY(index(claims));
  return claims.size();
}

// Most claims are new in the index; these are inserted several at a time.
Result<void> ClaimIndex::index(std::span<const KeyedClaim> claims) {
  while (!claims.empty()) {
    const auto some = claims.first(std::min(kRowsOfStatement, claims.size()));
    claims = claims.subspan(some.size());
    if (some.size() == kRowsOfStatement) {
      HAPAX_TRY_ASSIGN(are_new, index_if_new(some));
      if (are_new) continue;
    }
    for (const KeyedClaim& each : some) HAPAX_TRY(index_one(each));
  }
  return {};
}

Result<void> ClaimIndex::index_one(const KeyedClaim& claim) {
  {
    Run row(index_one_new_);
    bind_claim(row, claim);
    HAPAX_TRY_ASSIGN(added, row.change(kMerging));
    if (added == 1) return {};
  }
  HAPAX_TRY(check_took_over(claim));
  Run row(index_again_);
  bind_claim(row, claim);
  HAPAX_TRY(row.change(kMerging));
  return {};
}

// The claim in the index must have expired before the event that has the id now was received. If
// that event no longer exists, this cannot be checked.
Result<void> ClaimIndex::check_took_over(const KeyedClaim& claim) {
  HAPAX_TRY_ASSIGN(before, read_index(read_, claim.key));
  if (!before || before->event == claim.claim.event) return {};
  Run row(received_);
  HAPAX_TRY_ASSIGN(found, row.bind(claim.claim.event.value()).step(kMerging));
  if (!found || is_expired(before->expires_ms, row.number(0))) return {};
  Run note(note_double_);
  note.bind(claim.claim.event.value()).bind(before->event.value());
  HAPAX_TRY(note.change("record a double claim"));
  return {};
}

// False: at least one of them already existed and was not changed.
Result<bool> ClaimIndex::index_if_new(std::span<const KeyedClaim> claims) {
  Run rows(index_new_);
  for (const KeyedClaim& each : claims) bind_claim(rows, each);
  HAPAX_TRY_ASSIGN(added, rows.change(kMerging));
  return added == static_cast<std::int64_t>(claims.size());
}

Result<void> ClaimIndex::finish() {
  if (fresh_.empty() && !has_merged_ && !starts_pass_) return {};
  const bool is_pass_finished = log_.is_pass_finished() && !has_merged_;
  if (!is_pass_finished) HAPAX_TRY(merge(kMergesForOne * fresh_.size()));
  merged_up_to_ = log_.merged_up_to();
  const bool is_next_due =
      is_pass_finished && log_.added_in_pass() >= claims_until(merged_up_to_.pass);
  if (starts_pass_ || is_next_due) merged_up_to_ = {merged_up_to_.pass + 1, ""};
  HAPAX_TRY(append_rows());
  return remove_rows();
}

// A row without claims only records the merge position.
Result<void> ClaimIndex::append_rows() {
  std::size_t count = 0;
  appended_.emplace_back();
  for (const auto& [key, claim] : fresh_) {
    if (++count % kClaimsOfRow == 0) appended_.emplace_back();
    append_claim(appended_.back(), {key, claim});
  }
  std::int64_t seq = last_;
  appended_chain_hash_ = chain_hash_;
  for (const std::string& claims : appended_) {
    appended_chain_hash_ = chain_hash_of(appended_chain_hash_, merged_up_to_, claims);
    Run row(append_);
    row.bind(++seq)
        .bind(appended_chain_hash_)
        .bind(merged_up_to_.pass)
        .bind(merged_up_to_.key)
        .bind(claims);
    HAPAX_TRY(row.change("append claims"));
  }
  return {};
}

Result<void> ClaimIndex::remove_rows() {
  const auto appended = static_cast<std::int64_t>(appended_.size());
  if (last_ / kRowsAtOnce == (last_ + appended) / kRowsAtOnce) return {};
  for (auto left = kRemovedForOne * (kRowsAtOnce + appended); left > 0; --left) {
    HAPAX_TRY_ASSIGN(seq, first_row_if_merged());
    if (!seq) return {};
    HAPAX_TRY(Run(remove_).bind(*seq).change("remove merged claims"));
  }
  return {};
}

// Not a row of this transaction: the log must always have a last row.
Result<std::optional<std::int64_t>> ClaimIndex::first_row_if_merged() {
  Run row(first_row_);
  HAPAX_TRY_ASSIGN(found, row.step(kReadingClaims));
  if (!found || row.number(0) > last_) return std::optional<std::int64_t>();
  ClaimsOfRow claims(row.bytes(2));
  while (const auto each = claims.next()) {
    if (!is_merged(row.number(1), each->key, merged_up_to_)) return std::optional<std::int64_t>();
  }
  if (!claims.at_end()) return damaged();
  return std::optional(row.number(0));
}

void ClaimIndex::note_commit() {
  if (appended_.empty()) return;
  is_known_ = false;  // until everything is applied
  for (std::string& claims : appended_) {
    log_.read(merged_up_to_, std::move(claims));
    ++last_;
  }
  chain_hash_ = appended_chain_hash_;
  is_known_ = true;
  has_merged_ = false;
  start();
}

ClaimIndexReader::ClaimIndexReader(sqlite3* db)
    : read_(db, kReadEventClaim), rows_(db, kRecentAfter) {}

// The last row with the key wins. Rows are removed from the front, so if an older one exists, so
// does the newer.
Result<std::vector<std::optional<EventClaim>>> ClaimIndexReader::find(
    const std::vector<std::string>& keys) {
  if (keys.empty()) return std::vector<std::optional<EventClaim>>();
  std::map<std::string_view, std::optional<EventClaim>> wanted;
  for (const std::string& key : keys) wanted.try_emplace(key);
  Run rows(rows_);
  rows.bind(std::int64_t{0});
  for (;;) {
    HAPAX_TRY_ASSIGN(more, rows.step(kReadingClaims));
    if (!more) break;
    ClaimsOfRow claims(rows.bytes(4));
    while (const auto each = claims.next()) {
      if (const auto place = wanted.find(each->key); place != wanted.end()) {
        place->second = each->claim;
      }
    }
    if (!claims.at_end()) return damaged();
  }
  std::vector<std::optional<EventClaim>> found;
  found.reserve(keys.size());
  for (const std::string& key : keys) {
    found.push_back(wanted.at(key));
    if (found.back()) continue;
    HAPAX_TRY_ASSIGN(indexed, read_index(read_, key));
    found.back() = indexed;
  }
  return found;
}

}  // namespace hapax::store::sqlite
