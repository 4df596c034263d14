// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hapax {

// The kind of a claim. It is the first byte of the key, so keys of two kinds never collide.
enum class ClaimKind : char {
  id = 'd',       // (scope, id): dedup and once
  message = 'm',  // (destination, key): an outbox message
  event = 'e',    // (source and tenant, event id): the inbox
  lane = 'l',     // (source and tenant, order key): not a claim, but a lane is keyed the same way
};

// Longer keys are stored as their SHA-256.
inline constexpr std::size_t kMaxPlainKey = 200;

// The bytes that the unique index compares: kind, length of `group`, `group`, `id`. The id comes
// last and unchanged, so that time-ordered ids stay ordered in the index, which is worth a factor
// of two on SQLite. A key over kMaxPlainKey is replaced by the kind with its high bit set and the
// SHA-256 of the whole key. Different inputs never give the same key.
std::string claim_key(ClaimKind kind, std::string_view group, std::string_view id);

}  // namespace hapax
