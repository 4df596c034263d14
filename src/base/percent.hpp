// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "base/ascii.hpp"

#include <string>
#include <string_view>

namespace hapax {

// Encodes every byte as %XX unless `is_plain` accepts it.
template <class IsPlain>
std::string percent_encoded(std::string_view text, const IsPlain& is_plain) {
  constexpr std::string_view kHexDigits = "0123456789ABCDEF";
  std::string out;
  for (const char each : text) {
    if (is_plain(each)) {
      out += each;
    } else {
      const auto byte = static_cast<unsigned char>(each);
      out += {'%', kHexDigits[byte >> 4U], kHexDigits[byte & 15U]};
    }
  }
  return out;
}

// Encodes every byte as %XX except letters, digits and `marks`.
inline std::string percent_encoded_but(std::string_view marks, std::string_view text) {
  return percent_encoded(text, [&](char each) { return is_alphanumeric_or(marks, each); });
}

}  // namespace hapax
