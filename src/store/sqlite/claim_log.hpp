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
  std::string key;  // of the last one; empty: none in this pass

  friend bool operator==(const MergePosition&, const MergePosition&) = default;
};

// Whether a claim that was made in pass `made` has been merged.
bool is_merged(std::int64_t made, std::string_view key, const MergePosition& merged_up_to);

// Claims as the bytes of a row, one behind the other. The key is valid as long as the row.
struct KeyedClaim {
  std::string_view key;
  EventClaim claim;
};
void append_claim(std::string& row, const KeyedClaim& claim);
class ClaimsOfRow {
 public:
  explicit ClaimsOfRow(std::string_view row) : rest_(row) {}

  // Nothing: at the end, or where the bytes make no sense.
  std::optional<KeyedClaim> next();
  bool at_end() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }  // begins with the next one

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

  // Reads a row: claims of the pass of `merged_up_to`, in the order of their keys. False: they
  // cannot be read; only clear() makes sense then.
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
  // Places are where a claim begins in its row.
  struct HashOfKey {
    using is_transparent = void;
    std::size_t operator()(const char* place) const;
    std::size_t operator()(std::string_view key) const;
    SipKey by;  // ids are the senders'
  };
  struct SameKey {
    using is_transparent = void;
    bool operator()(const char* a, const char* b) const;
    bool operator()(std::string_view key, const char* place) const;
    bool operator()(const char* place, std::string_view key) const;
  };
  // What is left of a row. Mostly its order alone tells which of two comes first, without a look at
  // rows that are not at hand.
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
  std::deque<std::string> young_;  // rows of this turn; where they are in memory never changes
  std::size_t young_claims_ = 0;
  std::string young_prefix_;                   // of all their keys
  std::deque<std::string> old_;                // rows of the last turn, which are moved in this one
  std::size_t old_prefix_ = 0;                 // how long that of their keys is
  std::vector<Head> heads_;                    // of old rows, as a heap, the first key in front
  std::vector<Places::const_iterator> taken_;  // valid: nothing is added while some are taken
  MergePosition merged_up_to_;
};

}  // namespace hapax::store::sqlite
