// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/claims.hpp"

#include <map>
#include <optional>
#include <unordered_map>

namespace hapax::store::memory {

// ClaimTable of dedup ids and of message keys: a bounded table with expiry.
class ClaimTable {
 public:
  explicit ClaimTable(std::size_t max_ids) : max_ids_(max_ids) {}

  // All or nothing: capacity is checked before the first claim.
  Result<std::vector<Dedup>> dedup(std::span<const DedupItem> items, std::int64_t now);

  // A claim with a result. `made`: this call made it; otherwise token and result are the holder's.
  struct CurrentClaim {
    bool made = false;
    Token token;
    std::string result;
  };
  Result<CurrentClaim> claim_with(const DedupItem& item, std::string result, std::int64_t now);

  Purged purge(std::size_t limit, std::int64_t now);

 private:
  using ByExpiry = std::multimap<std::int64_t, const std::string*>;
  struct Claim {
    Token token;
    std::int64_t expires_ms = 0;
    std::string result;
    std::optional<ByExpiry::iterator> listed;  // several claims may expire at the same time
  };

  bool claim(const DedupItem& item, std::int64_t now);
  Result<void> make_room(std::span<const DedupItem> items, std::int64_t now);
  bool forget_over(std::int64_t now, std::size_t limit);

  const std::size_t max_ids_;
  std::unordered_map<std::string, Claim> claims_;  // its keys have stable addresses
  ByExpiry by_expiry_;
};

}  // namespace hapax::store::memory
