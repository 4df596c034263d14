// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "base/sip_hash.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace hapax {

// Which keys were added, in 12 bits for each. It never says of one that was added that it was not;
// of the others it says "maybe" about once in a hundred, and more often when there are more than it
// was made for. All bits of a key lie in one cache line. Keys may be chosen by others, who do not
// know what they are hashed with.
class BloomFilter {
 public:
  BloomFilter(std::size_t keys, const SipKey& hashed_by);

  void add(std::string_view key);
  bool may_have(std::string_view key) const;

 private:
  struct alignas(64) Block {
    std::array<std::uint64_t, 8> words{};
  };
  // The bits of a key, as words that have them set.
  struct Place {
    std::size_t block;
    Block bits;
  };
  Place place_of(std::string_view key) const;

  SipKey hashed_by_;
  std::vector<Block> blocks_;
};

}  // namespace hapax
