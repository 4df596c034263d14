// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "base/sip_hash.hpp"
#include "model/numbers.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace hapax::store::sqlite {

struct EventClaim {
  EventNo event;
  std::int64_t expires_ms = 0;

  friend bool operator==(const EventClaim&, const EventClaim&) = default;
};

// The position of the current merge pass. A pass merges, in key order, the claims logged before it
// started.
struct MergePosition {
  std::int64_t pass = 0;
  std::string key;  // of the last merged claim; empty: none in this pass

  friend bool operator==(const MergePosition&, const MergePosition&) = default;
};

// Whether a claim that was logged in pass `made` has been merged.
bool is_merged(std::int64_t made, std::string_view key, const MergePosition& merged_up_to);

// A row is a sequence of encoded claims. The key points into the row.
struct KeyedClaim {
  std::string_view key;
  EventClaim claim;
};
void append_claim(std::string& row, const KeyedClaim& claim);
class ClaimsOfRow {
 public:
  explicit ClaimsOfRow(std::string_view row) : rest_(row) {}

  // nullopt: at the end, or if the bytes are malformed.
  std::optional<KeyedClaim> next();
  bool at_end() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }  // starts at the next claim

 private:
  std::string_view rest_;
};

// The claims that are not in the index yet, as stored in the log rows.
class ClaimLog {
 public:
  explicit ClaimLog(const SipKey& hashed_by) : places_(0, HashOfKey{hashed_by}) {}

  std::optional<EventClaim> find(std::string_view key) const;
  std::size_t size() const { return places_.size(); }
  bool has_expired(std::int64_t now_ms) const;

  // Reads a row: claims of the pass of `merged_up_to`, in key order. False: the row is malformed,
  // and only clear() may follow.
  bool read(const MergePosition& merged_up_to, std::string claims);
  void clear();

  // Merging. Taken claims are final when the next row, with the new position, is read; rewind()
  // restores those taken since.
  std::optional<KeyedClaim> take();
  void rewind();
  bool is_pass_finished() const { return heads_.empty(); }
  std::size_t added_in_pass() const { return young_claims_; }
  MergePosition merged_up_to() const;

 private:
  // A place points to the start of a claim in its row.
  struct HashOfKey {
    using is_transparent = void;
    std::size_t operator()(const char* place) const;
    std::size_t operator()(std::string_view key) const;
    SipKey by;  // keyed, because senders choose the ids
  };
  struct SameKey {
    using is_transparent = void;
    bool operator()(const char* a, const char* b) const;
    bool operator()(std::string_view key, const char* place) const;
    bool operator()(const char* place, std::string_view key) const;
  };
  // The unmerged rest of a row. `order` usually decides a comparison without touching the row,
  // which may not be in the CPU cache.
  struct Head {
    std::uint64_t order;
    std::string_view rest;
  };
  static bool is_later(const Head& a, const Head& b);

  void push(std::string_view rest);
  const char* pop();
  void forget(const char* place);
  void start_pass();

  using Places = std::unordered_set<const char*, HashOfKey, SameKey>;

  Places places_;
  std::deque<std::string> young_;  // rows of this pass; their addresses are stable
  std::size_t young_claims_ = 0;
  std::string young_prefix_;                   // common prefix of all their keys
  std::deque<std::string> old_;                // rows of the previous pass, merged in this one
  std::size_t old_prefix_ = 0;                 // length of their common key prefix
  std::vector<Head> heads_;                    // of old rows, as a heap, smallest key first
  std::vector<Places::const_iterator> taken_;  // valid: no inserts while some are taken
  MergePosition merged_up_to_;
};

}  // namespace hapax::store::sqlite
