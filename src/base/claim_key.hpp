// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hapax {

// What a claim is about. The first byte of its key, so that two kinds never meet.
enum class ClaimKind : char {
  id = 'd',       // (scope, id): dedup and once
  message = 'm',  // (destination, key): an outbox message
  event = 'e',    // (source and tenant, event id): the inbox
  lane = 'l',     // (source and tenant, order key): not a claim; a lane's key is made the same way
};

// Longer keys are stored as their SHA-256.
inline constexpr std::size_t kMaxPlainKey = 200;

// The bytes that the unique index compares: the kind, the length of `group`, `group`, `id`. The id
// stands last and as it is, so that ids that are ordered by time stay so in the index, which is
// worth a factor of two on SQLite. A key over kMaxPlainKey becomes the kind with its high bit set
// and the SHA-256 of the whole. No two different inputs give the same key.
std::string claim_key(ClaimKind kind, std::string_view group, std::string_view id);

}  // namespace hapax
