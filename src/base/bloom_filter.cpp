// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/bloom_filter.hpp"

namespace hapax {

namespace {

constexpr std::size_t kBitsOfBlock = 512;
constexpr std::size_t kBitsForKey = 12;
constexpr std::size_t kBitsOfKey = 6;    // that are set
constexpr std::uint64_t kBitNumber = 9;  // bits that say which one of a block

}  // namespace

BloomFilter::BloomFilter(std::size_t keys, const SipKey& hashed_by)
    : hashed_by_(hashed_by), blocks_(keys * kBitsForKey / kBitsOfBlock + 1) {}

// The upper half of the hash chooses the block, and all of it, mixed again, the bits.
BloomFilter::Place BloomFilter::place_of(std::string_view key) const {
  const std::uint64_t hash = sip_hash(hashed_by_, key);
  Place place{static_cast<std::size_t>((hash >> 32U) * blocks_.size() >> 32U), {}};
  std::uint64_t bits = hash * 0x9e3779b97f4a7c15U;
  for (std::size_t each = 0; each < kBitsOfKey; ++each) {
    const std::uint64_t bit = bits >> (64U - kBitNumber);
    place.bits.words[bit / 64] |= std::uint64_t{1} << bit % 64;
    bits <<= kBitNumber;
  }
  return place;
}

void BloomFilter::add(std::string_view key) {
  const Place place = place_of(key);
  Block& block = blocks_[place.block];
  for (std::size_t each = 0; each < block.words.size(); ++each) {
    block.words[each] |= place.bits.words[each];
  }
}

bool BloomFilter::may_have(std::string_view key) const {
  const Place place = place_of(key);
  const Block& block = blocks_[place.block];
  std::uint64_t missing = 0;
  for (std::size_t each = 0; each < block.words.size(); ++each) {
    missing |= place.bits.words[each] & ~block.words[each];
  }
  return missing == 0;
}

}  // namespace hapax
