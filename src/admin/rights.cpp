// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "admin/rights.hpp"

#include <algorithm>

namespace hapax::admin {

std::string_view name(Right right) noexcept {
  switch (right) {
    case Right::unsaid:
      break;
    case Right::read:
      return "read";
    case Right::replay:
      return "replay";
    case Right::lease:
      return "lease";
    case Right::settle:
      return "settle";
    case Right::dedup:
      return "dedup";
    case Right::admin:
      return "admin";
  }
  return "";
}

std::string in_words(Right right) {
  std::string words(name(right));
  if (right == Right::lease || right == Right::settle) words += ":DESTINATION";
  if (right == Right::dedup) words += ":SCOPE";
  return words;
}

bool Rights::may(Right right, std::string_view of) const {
  return all_ || std::any_of(grants_.begin(), grants_.end(), [&](const Grant& each) {
           return each.right == right && each.of == of;
         });
}

bool Rights::may_some(Right right) const {
  return all_ || std::any_of(grants_.begin(), grants_.end(),
                             [&](const Grant& each) { return each.right == right; });
}

}  // namespace hapax::admin
