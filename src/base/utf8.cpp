// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/utf8.hpp"

#include <algorithm>
#include <array>

namespace hapax {

namespace {

constexpr std::uint32_t kDelete = 0x7f;

}  // namespace

Utf8Character first_character(std::string_view text) {
  const auto byte = [text](std::size_t i) -> std::uint32_t {
    return static_cast<unsigned char>(text[i]);
  };
  const std::uint32_t first = byte(0);
  if (first < 0x80) return {first, 1};
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return {};
  std::uint32_t code = first & (0x7fU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr std::array<std::uint32_t, 5> kLowest = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < kLowest[size] || code > 0x10ffff || surrogate) return {};
  return {code, size};
}

std::string escape_of(std::uint32_t code) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string escape = "\\u";
  for (unsigned shift = 16; shift > 0; shift -= 4) escape += kDigits[code >> (shift - 4) & 0xfU];
  return escape;
}

bool is_command(std::uint32_t code) {
  const auto between = [code](std::uint32_t first, std::uint32_t last) {
    return code >= first && code <= last;
  };
  return code < 0x20 || between(kDelete, 0x9f) || between(0x2028, 0x202e) ||
         between(0x2066, 0x2069);
}

std::string printable(std::string_view text, std::string_view keep) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Utf8Character character = first_character(text);
    const std::size_t size = std::max<std::size_t>(character.size, 1);
    const bool kept = keep.find(text.front()) != std::string_view::npos;
    const bool ascii = character.size <= 1;
    if (character.size != 0 && (kept || !is_command(character.code))) {
      out += text.substr(0, size);
    } else {
      out += ascii ? "?" : escape_of(character.code);
    }
    text.remove_prefix(size);
  }
  return out;
}

std::string printable_json(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  while (!json.empty()) {
    const Utf8Character character = first_character(json);
    const std::size_t size = std::max<std::size_t>(character.size, 1);
    const bool command = character.code >= kDelete && is_command(character.code);
    out += command ? escape_of(character.code) : std::string(json.substr(0, size));
    json.remove_prefix(size);
  }
  return out;
}

}  // namespace hapax
