// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

namespace hapax {

struct SipKey {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
};

// SipHash-2-4: for tables with untrusted keys. Without the hash key, attackers cannot find inputs
// that all fall into one bucket.
std::uint64_t sip_hash(const SipKey& key, std::string_view bytes);

}  // namespace hapax
