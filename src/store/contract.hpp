// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/store.hpp>

#include "store/inbox.hpp"

#include <chrono>
#include <span>
#include <string>
#include <vector>

// The interface of every store behind hapax::Store. One `write` takes work of every kind: a batch
// is a unit of sync, not of atomicity. Batch and Answers gain members with new kinds of work.
namespace hapax::store {

// A request that passed check(), with the key of the unique index.
struct DedupItem {
  std::string key;
  Token token;  // never empty
  std::chrono::milliseconds ttl;
};

inline std::string_view view(const Token& token) {
  return {reinterpret_cast<const char*>(token.bytes.data()), token.bytes.size()};
}

// Executed in this order. Each vector of answers has one element per item, in order.
struct Batch {
  std::span<const Settlement> settle = {};
  std::span<const Admit> admit = {};
  std::span<const DedupItem> dedup = {};
  std::span<const LeaseRequest> lease = {};
};

// A store without a capability leaves the corresponding answers at these defaults.
struct Answers {
  Result<std::vector<Settled>> settle = std::vector<Settled>{};
  std::vector<AdmitAnswer> admit;  // each with its own outcome
  Result<std::vector<Dedup>> dedup = std::vector<Dedup>{};
  Result<std::vector<Lease>> lease = std::vector<Lease>{};
};

// The approximate size of a batch, in rows.
std::size_t size_of(const Batch& batch);

// Thread-safe; blocks; never throws. Each item is atomic by itself. All times are store time. A
// driver resolves an unknown outcome itself, by repeating the statement with the same token, and
// reports `unknown` only where it cannot.
class Driver : public InboxOperations {
 public:
  virtual Capabilities capabilities() const = 0;
  virtual Answers write(const Batch& batch) = 0;
  virtual Result<Purged> purge(std::size_t limit) = 0;
};

// The expiry rule, the same in every store and statement.
constexpr bool is_expired(std::int64_t expires_ms, std::int64_t now_ms) {
  return now_ms >= expires_ms;
}

}  // namespace hapax::store
