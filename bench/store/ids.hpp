// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace hapax::bench {

enum class IdOrder : std::uint8_t { random, by_time };

std::string_view name(IdOrder order);

// Ids as senders generate them: UUIDs of 36 characters, version 4 or version 7 with an increasing
// counter. The sequence depends only on the order, so that both sides write the same ids.
class Ids {
 public:
  explicit Ids(IdOrder order) : order_(order) {}

  std::vector<std::string> next(std::size_t count);
  void skip(std::size_t count);

 private:
  std::string make();

  IdOrder order_;
  std::mt19937_64 random_{20260101};
  std::uint64_t made_ = 0;
};

}  // namespace hapax::bench
