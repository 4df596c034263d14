// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/base64.hpp"

#include <array>
#include <cstdint>

namespace hapax {

namespace {

constexpr std::string_view kStandard =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kUrl =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::uint8_t kNone = 0xff;

using Values = std::array<std::uint8_t, 256>;

constexpr Values values_of(std::string_view alphabet) {
  Values values{};
  values.fill(kNone);
  for (std::size_t i = 0; i < alphabet.size(); ++i) {
    values[static_cast<unsigned char>(alphabet[i])] = static_cast<std::uint8_t>(i);
  }
  return values;
}

constexpr Values kStandardValues = values_of(kStandard);
constexpr Values kUrlValues = values_of(kUrl);

// Returns `text` without its padding, or nullopt if its length is invalid.
std::optional<std::string_view> letters_of(std::string_view text, Base64 kind) {
  if (kind == Base64::url) {
    if (text.size() % 4 == 1) return std::nullopt;
    return text;
  }
  if (text.size() % 4 != 0) return std::nullopt;
  for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
  return text;
}

}  // namespace

std::string to_base64(std::string_view bytes, Base64 kind) {
  const std::string_view alphabet = kind == Base64::standard ? kStandard : kUrl;
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  std::uint32_t bits = 0;
  int count = 0;
  for (const char byte : bytes) {
    bits = bits << 8 | static_cast<unsigned char>(byte);
    count += 8;
    for (; count >= 6; count -= 6) text += alphabet[bits >> (count - 6) & 0x3f];
  }
  if (count > 0) text += alphabet[bits << (6 - count) & 0x3f];
  while (kind == Base64::standard && text.size() % 4 != 0) text += '=';
  return text;
}

std::optional<std::size_t> decode_base64(std::string_view text, Base64 kind,
                                         std::span<unsigned char> out) {
  const std::optional<std::string_view> letters = letters_of(text, kind);
  if (!letters) return std::nullopt;
  const std::size_t size = letters->size() * 6 / 8;
  if (size > out.size()) return std::nullopt;
  const Values& values = kind == Base64::standard ? kStandardValues : kUrlValues;
  std::uint32_t bits = 0;
  unsigned count = 0;
  std::size_t written = 0;
  std::uint8_t seen = 0;  // checked once after the loop: no branch per letter
  for (const char letter : *letters) {
    const std::uint8_t value = values[static_cast<unsigned char>(letter)];
    seen |= value;
    bits = bits << 6 | (value & 0x3f);
    count += 6;
    if (count >= 8) {
      count -= 8;
      out[written++] = static_cast<unsigned char>(bits >> count);
    }
  }
  if (seen == kNone || (bits & ((1U << count) - 1)) != 0) return std::nullopt;
  return size;
}

std::optional<std::string> from_base64(std::string_view text, Base64 kind) {
  std::string bytes(text.size() * 6 / 8 + 1, '\0');
  const std::optional<std::size_t> size =
      decode_base64(text, kind, {reinterpret_cast<unsigned char*>(bytes.data()), bytes.size()});
  if (!size) return std::nullopt;
  bytes.resize(*size);
  return bytes;
}

}  // namespace hapax
