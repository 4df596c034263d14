// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "model/headers.hpp"

#include <cstdint>

namespace hapax {

namespace {

constexpr std::size_t kLength = 4;  // bytes in front of each part

void append_part(std::string& out, std::string_view part) {
  const auto size = static_cast<std::uint32_t>(part.size());
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(size >> shift & 0xff);
  out += part;
}

// Takes the part at the front of `rest`.
std::optional<std::string_view> take_part(std::string_view& rest) {
  if (rest.size() < kLength) return std::nullopt;
  std::uint32_t size = 0;
  for (const char c : rest.substr(0, kLength)) size = size << 8 | static_cast<unsigned char>(c);
  rest.remove_prefix(kLength);
  if (rest.size() < size) return std::nullopt;
  const std::string_view part = rest.substr(0, size);
  rest.remove_prefix(size);
  return part;
}

}  // namespace

void append_header(std::string& out, std::string_view name, std::string_view value) {
  append_part(out, name);
  append_part(out, value);
}

std::string encode_headers(std::span<const Header> headers) {
  std::string out;
  for (const Header& header : headers) append_header(out, header.name, header.value);
  return out;
}

std::optional<std::vector<Header>> decode_headers(std::string_view encoded) {
  std::vector<Header> headers;
  while (!encoded.empty()) {
    const auto name = take_part(encoded);
    const auto value = name ? take_part(encoded) : std::nullopt;
    if (!value) return std::nullopt;
    headers.push_back({*name, *value});
  }
  return headers;
}

}  // namespace hapax
