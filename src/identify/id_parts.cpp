// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "identify/id_parts.hpp"

#include "base/check.hpp"

#include <cstdint>

namespace hapax {

namespace {

void append_length(std::string& out, std::uint64_t length, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
    out += static_cast<char>(length >> shift & 0xff);
  }
}

}  // namespace

std::string shown_id(std::span<const IdPart> parts) {
  std::string id = parts.front().text;
  for (const IdPart& part : parts.subspan(1)) {
    id += '/';
    id += part.text;
  }
  return id;
}

std::string id_key(std::span<const IdPart> parts) {
  std::string key;
  for (const IdPart& part : parts.first(parts.size() - 1)) {
    HAPAX_CHECK(part.text.size() <= 0xffff);
    key += part.number ? 'N' : 'S';
    append_length(key, part.text.size(), 2);
    key += part.text;
  }
  key += parts.back().number ? 'n' : 's';
  key += parts.back().text;
  return key;
}

Digest hash_of(std::span<const IdPart> parts) {
  std::string bytes;
  for (const IdPart& part : parts) {
    bytes += part.number ? 'n' : 's';
    append_length(bytes, part.text.size(), 8);
    bytes += part.text;
  }
  return sha256(bytes);
}

std::string hash_key(const Digest& digest) {
  std::string key("h");
  key += view(digest);
  return key;
}

}  // namespace hapax
