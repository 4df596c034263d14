// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/memory/claims.hpp"

#include "base/try.hpp"

#include <unordered_set>

namespace hapax::store::memory {

Result<std::vector<Dedup>> ClaimTable::dedup(std::span<const DedupItem> items, std::int64_t now) {
  if (claims_.size() + items.size() > max_ids_) HAPAX_TRY(make_room(items, now));
  std::vector<Dedup> answers;
  answers.reserve(items.size());
  for (const DedupItem& item : items) answers.push_back(Dedup{.duplicate = !claim(item, now)});
  return answers;
}

Result<ClaimTable::CurrentClaim> ClaimTable::claim_with(const DedupItem& item, std::string result,
                                                        std::int64_t now) {
  const auto before = claims_.find(item.key);
  if (before != claims_.end() && !is_expired(before->second.expires_ms, now)) {
    return CurrentClaim{false, before->second.token, before->second.result};
  }
  HAPAX_TRY(dedup(std::span(&item, 1), now));
  claims_.at(item.key).result = result;
  return CurrentClaim{true, item.token, std::move(result)};
}

Purged ClaimTable::purge(std::size_t limit, std::int64_t now) {
  const std::size_t before = claims_.size();
  const bool done = forget_over(now, limit);
  return Purged{.removed = before - claims_.size(), .done = done};
}

bool ClaimTable::claim(const DedupItem& item, std::int64_t now) {
  const auto [place, fresh] = claims_.try_emplace(item.key);
  Claim& standing = place->second;
  if (!fresh && !is_expired(standing.expires_ms, now)) return standing.token == item.token;
  const std::int64_t expires_ms = now + item.ttl.count();
  const auto listed = by_expiry_.emplace(expires_ms, &place->first);
  if (standing.listed) by_expiry_.erase(*standing.listed);
  standing = {item.token, expires_ms, {}, listed};
  return true;
}

Result<void> ClaimTable::make_room(std::span<const DedupItem> items, std::int64_t now) {
  forget_over(now, claims_.size());
  std::unordered_set<std::string_view> unknown;
  for (const DedupItem& item : items) {
    if (!claims_.contains(item.key)) unknown.insert(item.key);
  }
  if (claims_.size() + unknown.size() <= max_ids_) return {};
  return Error(Code::store_full, "the memory store holds " + std::to_string(claims_.size()) +
                                     " ids that are still claimed, and may hold " +
                                     std::to_string(max_ids_) +
                                     "; raise memory_max_ids, shorten the ttl, or use sqlite:");
}

// False if the limit stopped it.
bool ClaimTable::forget_over(std::int64_t now, std::size_t limit) {
  while (!by_expiry_.empty() && is_expired(by_expiry_.begin()->first, now)) {
    if (limit-- == 0) return false;
    const std::string* key = by_expiry_.begin()->second;
    by_expiry_.erase(by_expiry_.begin());
    claims_.erase(claims_.find(*key));
  }
  return true;
}

}  // namespace hapax::store::memory
