// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "base/sha256.hpp"

#include <span>
#include <string>

namespace hapax {

// One part of an event id. The string "1" and the number 1 are different ids.
struct IdPart {
  bool number = false;
  std::string text;
};

// The parts joined by '/', for display.
std::string shown_id(std::span<const IdPart> parts);

// The key in the index. Every part but the last is its kind ('S' a string, 'N' a number), its
// length in two bytes and its text; the last part is its kind ('s', 'n') and its text. The last
// text is at the end and unchanged, so that time-ordered ids stay ordered. No two lists of parts
// share a key, even if their lengths differ: the first byte of each part tells whether it is the
// last. `parts` is not empty; a part has at most 65535 bytes.
std::string id_key(std::span<const IdPart> parts);

// SHA-256 over the kind, the length and the text of each part.
Digest hash_of(std::span<const IdPart> parts);

// The key of a hashed id: 'h' and the 32 bytes. It never equals a result of id_key().
std::string hash_key(const Digest& digest);

}  // namespace hapax
