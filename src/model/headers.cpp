// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "model/headers.hpp"

#include <cstdint>

namespace hapax {

namespace {

constexpr int kDigitBits = 7;
constexpr unsigned kMore = 0x80;  // another digit follows
constexpr int kDigits = 5;        // of 32 bits

// Lengths are varints: nearly all are below 128 and take one byte. Headers are a fifth of a small
// event.
void append_part(std::string& out, std::string_view part) {
  auto size = static_cast<std::uint32_t>(part.size());
  for (; size >= kMore; size >>= kDigitBits) out += static_cast<char>(size | kMore);
  out += static_cast<char>(size);
  out += part;
}

std::optional<std::uint64_t> take_length(std::string_view& rest) {
  std::uint64_t size = 0;
  for (int i = 0; i < kDigits && !rest.empty(); ++i) {
    const auto digit = static_cast<unsigned char>(rest.front());
    rest.remove_prefix(1);
    size |= std::uint64_t{digit & (kMore - 1)} << (i * kDigitBits);
    const bool one_way_only = digit != 0 || i == 0;  // canonical encoding only
    if ((digit & kMore) == 0) return one_way_only ? std::optional(size) : std::nullopt;
  }
  return std::nullopt;
}

// Removes the first part of `rest` and returns it.
std::optional<std::string_view> take_part(std::string_view& rest) {
  const std::optional<std::uint64_t> size = take_length(rest);
  if (!size || rest.size() < *size) return std::nullopt;
  const std::string_view part = rest.substr(0, *size);
  rest.remove_prefix(*size);
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
