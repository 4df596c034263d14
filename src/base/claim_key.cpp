// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/claim_key.hpp"

#include "base/check.hpp"
#include "base/sha256.hpp"

namespace hapax {

namespace {

std::string hashed(ClaimKind kind, std::string_view plain) {
  std::string key;
  key += static_cast<char>(static_cast<unsigned char>(kind) | 0x80U);
  key += view(sha256(plain));
  return key;
}

}  // namespace

std::string claim_key(ClaimKind kind, std::string_view group, std::string_view id) {
  HAPAX_CHECK(group.size() <= 0xffff);
  std::string key;
  key.reserve(3 + group.size() + id.size());
  key += static_cast<char>(kind);
  key += static_cast<char>(group.size() >> 8);
  key += static_cast<char>(group.size() & 0xff);
  key += group;
  key += id;
  if (key.size() > kMaxPlainKey) return hashed(kind, key);
  return key;  // moved, where ?: would copy
}

}  // namespace hapax
