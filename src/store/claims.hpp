// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/store.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

// The expiry rule, the same in every store and statement.
constexpr bool is_expired(std::int64_t expires_ms, std::int64_t now_ms) {
  return now_ms >= expires_ms;
}

// The contract behind hapax::Store: claims of ids, and their removal. The capability `dedup`.
// Thread-safe; the calls block and never throw. All times are store time, read once per
// transaction.
class Claims {
 public:
  virtual ~Claims() = default;

  // Claims each id that is free or expired: one answer per item, in order. If an id occurs twice,
  // the first item gets it. Durable on return. Each claim is atomic by itself; after an error with
  // outcome did_not_happen none was made. After an unknown outcome the call may be repeated with
  // the same tokens: a claim with the same token is ours, not a duplicate. A store resolves an
  // unknown outcome itself in this way and reports it only where it cannot.
  virtual Result<std::vector<Dedup>> dedup(std::span<const DedupItem> items) = 0;

  // One step of removing expired claims: about `limit` rows. May be repeated.
  virtual Result<Purged> purge(std::size_t limit) = 0;
};

}  // namespace hapax::store
