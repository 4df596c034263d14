// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/postgres/rows.hpp"

#include "store/postgres/wire.hpp"

#include <algorithm>

namespace hapax::store::postgres {

namespace {

// Big-endian, 1 to 8 bytes, two's complement.
std::int64_t integer(std::string_view bytes) {
  if (bytes.empty()) return 0;
  std::uint64_t value = (bytes[0] & 0x80) != 0 ? ~std::uint64_t{0} : 0;
  for (const char each : bytes) value = value << 8 | static_cast<unsigned char>(each);
  return static_cast<std::int64_t>(value);
}

}  // namespace

std::int64_t Row::number(int column) const {
  return integer(answer_.field(row_, column));
}

std::optional<std::int64_t> Row::number_or_none(int column) const {
  if (is_null(column)) return std::nullopt;
  return number(column);
}

std::string Row::bytes(int column) const {
  return std::string(answer_.field(row_, column));
}

WallTime Row::time(int column) const {
  return WallTime(std::chrono::microseconds(number(column) + kEpochGapUs));
}

std::optional<WallTime> Row::time_or_none(int column) const {
  if (is_null(column)) return std::nullopt;
  return time(column);
}

Digest Row::digest(int column) const {
  Digest digest{};
  const std::string_view bytes = answer_.field(row_, column);
  std::copy_n(bytes.begin(), std::min(bytes.size(), digest.size()), digest.begin());
  return digest;
}

// The header: dimensions, whether there are NULLs, type, count, first index. Then the length and
// value of each element.
std::vector<std::int64_t> Row::numbers(int column) const {
  std::vector<std::int64_t> values;
  std::string_view bytes = answer_.field(row_, column);
  if (bytes.size() < 20) return values;
  for (bytes.remove_prefix(20); bytes.size() >= 12; bytes.remove_prefix(12)) {
    values.push_back(integer(bytes.substr(4, 8)));
  }
  return values;
}

}  // namespace hapax::store::postgres
