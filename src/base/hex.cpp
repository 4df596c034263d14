// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/hex.hpp"

namespace hapax {

std::string to_hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  hex.reserve(2 * bytes.size());
  for (const char each : bytes) {
    const auto byte = static_cast<unsigned char>(each);
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 0xf];
  }
  return hex;
}

std::optional<std::size_t> decode_hex(std::string_view hex, std::span<unsigned char> out) {
  if (hex.size() % 2 != 0 || hex.size() / 2 > out.size()) return std::nullopt;
  const auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  };
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    const int value = digit(hex[i]) << 4 | digit(hex[i + 1]);
    if (value < 0) return std::nullopt;
    out[i / 2] = static_cast<unsigned char>(value);
  }
  return hex.size() / 2;
}

std::optional<std::string> from_hex(std::string_view hex) {
  std::string bytes(hex.size() / 2, '\0');
  const std::optional<std::size_t> size =
      decode_hex(hex, {reinterpret_cast<unsigned char*>(bytes.data()), bytes.size()});
  if (!size) return std::nullopt;
  return bytes;
}

}  // namespace hapax
