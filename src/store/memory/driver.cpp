// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/memory/driver.hpp"

#include "base/try.hpp"

#include <map>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

namespace hapax::store::memory {

namespace {

struct Claim {
  Token token;
  std::int64_t expires_ms = 0;
};

class MemoryDriver final : public Driver {
 public:
  MemoryDriver(std::size_t max_ids, Clock& clock)
      : max_ids_(max_ids), clock_(clock), start_(clock.wall()), boot_(clock.since_boot()) {}

  Capabilities capabilities() const override { return {Capability::dedup}; }

  Answers write(const Batch& batch) override {
    const std::lock_guard lock(mutex_);
    Answers answers;
    answers.dedup = dedup(batch.dedup);
    return answers;
  }

  Result<Purged> purge(std::size_t limit) override {
    const std::lock_guard lock(mutex_);
    const std::size_t before = claims_.size();
    const bool done = forget_over(now_ms(), limit);
    return Purged{.removed = before - claims_.size(), .done = done};
  }

 private:
  // All or nothing: whether everything fits is settled before the first claim.
  Result<std::vector<Dedup>> dedup(std::span<const DedupItem> items) {
    const std::int64_t now = now_ms();
    if (claims_.size() + items.size() > max_ids_) HAPAX_TRY(make_room(items, now));
    std::vector<Dedup> answers;
    answers.reserve(items.size());
    for (const DedupItem& item : items) {
      answers.push_back(Dedup{.duplicate = !claim(item, now)});
    }
    return answers;
  }

  bool claim(const DedupItem& item, std::int64_t now) {
    const auto [place, fresh] = claims_.try_emplace(item.key);
    Claim& standing = place->second;
    if (!fresh && !is_over(standing.expires_ms, now)) return standing.token == item.token;
    if (!fresh) unlist(standing.expires_ms, place->first);
    standing = {item.token, now + item.ttl.count()};
    by_expiry_.emplace(standing.expires_ms, &place->first);
    return true;
  }

  Result<void> make_room(std::span<const DedupItem> items, std::int64_t now) {
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

  // False when the limit stopped it.
  bool forget_over(std::int64_t now, std::size_t limit) {
    while (!by_expiry_.empty() && is_over(by_expiry_.begin()->first, now)) {
      if (limit-- == 0) return false;
      const std::string* key = by_expiry_.begin()->second;
      by_expiry_.erase(by_expiry_.begin());
      claims_.erase(claims_.find(*key));
    }
    return true;
  }

  void unlist(std::int64_t expires_ms, const std::string& key) {
    const auto [first, last] = by_expiry_.equal_range(expires_ms);
    for (auto each = first; each != last; ++each) {
      if (each->second != &key) continue;
      by_expiry_.erase(each);
      return;
    }
  }

  // Calendar time at the start, then the boot clock: a wall clock that jumps ends no claim.
  std::int64_t now_ms() const {
    const auto now = start_.time_since_epoch() + (clock_.since_boot() - boot_);
    return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  }

  const std::size_t max_ids_;
  const Clock& clock_;
  const WallTime start_;
  const BootTime boot_;
  std::mutex mutex_;
  std::unordered_map<std::string, Claim> claims_;  // its keys stay where they are
  std::multimap<std::int64_t, const std::string*> by_expiry_;
};

}  // namespace

std::unique_ptr<Driver> make_driver(std::size_t max_ids, Clock& clock) {
  return std::make_unique<MemoryDriver>(max_ids, clock);
}

}  // namespace hapax::store::memory
