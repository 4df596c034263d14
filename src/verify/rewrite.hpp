// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hapax::verify_detail {

// The whitespace style of a JSON writer. Numbers, names and escapes are kept, because the purpose
// is to recognize a reserialized body.
struct JsonStyle {
  std::string_view after_comma;
  std::string_view after_colon;
  int indent = 0;  // 0: on one line
};

// `text` in another style. nullopt if its brackets or strings are not closed.
std::optional<std::string> restyled_json(std::string_view text, const JsonStyle& style);

std::string replaced(std::string_view text, std::string_view from, std::string_view to);

}  // namespace hapax::verify_detail
