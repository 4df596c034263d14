// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "base/sha256.hpp"

#include <span>
#include <string>

namespace hapax {

// One part of an event id. The string "1" and the number 1 are two ids.
struct IdPart {
  bool number = false;
  std::string text;
};

// The parts with '/' between, for people.
std::string shown_id(std::span<const IdPart> parts);

// For the index. Every part but the last is its kind ('S' a string, 'N' a number), its length in
// two bytes and its text; the last is its kind ('s', 'n') and its text. The last stands at the end
// as it is, so that ids that are ordered by time stay so. No two lists of parts share a key, also
// of different lengths: the first byte of each part says whether it is the last. A part has at most
// 65535 bytes, and there is one at least.
std::string id_key(std::span<const IdPart> parts);

// SHA-256 over the kind, the length and the text of each part.
Digest hash_of(std::span<const IdPart> parts);

// The key of an id that is a hash: 'h' and the 32 bytes. It meets no other.
std::string hash_key(const Digest& digest);

}  // namespace hapax
