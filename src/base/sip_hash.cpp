// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/sip_hash.hpp"

#include <bit>

namespace hapax {

namespace {

struct State {
  std::uint64_t v0, v1, v2, v3;

  void rounds(int count) {
    for (; count > 0; --count) {
      v0 += v1;
      v2 += v3;
      v1 = std::rotl(v1, 13) ^ v0;
      v3 = std::rotl(v3, 16) ^ v2;
      v0 = std::rotl(v0, 32);
      v2 += v1;
      v0 += v3;
      v1 = std::rotl(v1, 17) ^ v2;
      v3 = std::rotl(v3, 21) ^ v0;
      v2 = std::rotl(v2, 32);
    }
  }
  void take(std::uint64_t word) {
    v3 ^= word;
    rounds(2);
    v0 ^= word;
  }
};

// A little-endian word of at most eight bytes.
std::uint64_t word_of(std::string_view bytes) {
  std::uint64_t word = 0;
  for (std::size_t at = bytes.size(); at > 0; --at) {
    word = word << 8 | static_cast<unsigned char>(bytes[at - 1]);
  }
  return word;
}

}  // namespace

std::uint64_t sip_hash(const SipKey& key, std::string_view bytes) {
  State state{key.first ^ 0x736f6d6570736575U, key.second ^ 0x646f72616e646f6dU,
              key.first ^ 0x6c7967656e657261U, key.second ^ 0x7465646279746573U};
  const std::uint64_t length = std::uint64_t{bytes.size() & 0xff} << 56;
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) state.take(word_of(bytes.substr(0, 8)));
  state.take(length | word_of(bytes));
  state.v2 ^= 0xff;
  state.rounds(4);
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

}  // namespace hapax
