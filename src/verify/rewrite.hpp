// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hapax::verify_detail {

// How JSON writers space their output. Numbers, names and escapes stay as they are: this is about
// telling who wrote a body again, not about reading it.
struct JsonStyle {
  std::string_view after_comma;
  std::string_view after_colon;
  int indent = 0;  // 0: on one line
};

// `text` in another style. Nothing when its brackets or strings do not close.
std::optional<std::string> restyled_json(std::string_view text, const JsonStyle& style);

std::string replaced(std::string_view text, std::string_view from, std::string_view to);

}  // namespace hapax::verify_detail
