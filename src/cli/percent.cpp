// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "cli/percent.hpp"

namespace hapax::cli {

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char each : text) {
    const auto byte = static_cast<unsigned char>(each);
    const bool plain = (each >= '0' && each <= '9') || (each >= 'a' && each <= 'z') ||
                       (each >= 'A' && each <= 'Z') || each == '-' || each == '_' || each == '.';
    if (plain) {
      out += each;
    } else {
      out += {'%', kDigits[byte >> 4U], kDigits[byte & 15U]};
    }
  }
  return out;
}

}  // namespace hapax::cli
