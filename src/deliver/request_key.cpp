// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "deliver/request_key.hpp"

#include "base/hex.hpp"
#include "base/sha256.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace hapax::deliver {

RequestKey request_key(std::string_view route, std::string_view key, std::string_view argument,
                       std::string_view body) {
  const Digest whose = sha256_of_parts({"replay", route, key});
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < sizeof number; ++i) number = number << 8U | whose[i];
  // Positive. If two keys share the 63 bits, the digest distinguishes their requests.
  number &= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const auto value = std::max<std::int64_t>(1, static_cast<std::int64_t>(number));
  const Digest asked = sha256_of_parts({"request", route, key, argument, body});
  return {ReplayNo(value), to_hex(view(asked))};
}

}  // namespace hapax::deliver
