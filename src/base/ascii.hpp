// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace hapax {

// Independent of the locale.
constexpr bool is_digit(char letter) {
  return letter >= '0' && letter <= '9';
}

constexpr bool is_alphanumeric(char letter) {
  return is_digit(letter) || (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
}
constexpr bool is_alphanumeric_or(std::string_view marks, char letter) {
  return is_alphanumeric(letter) || marks.find(letter) != std::string_view::npos;
}
constexpr char to_lower(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}
inline std::string to_lower(std::string text) {
  for (char& letter : text) letter = to_lower(letter);
  return text;
}

}  // namespace hapax
