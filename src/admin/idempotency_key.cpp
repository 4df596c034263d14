// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "admin/idempotency_key.hpp"

#include "model/field.hpp"

#include <algorithm>

namespace hapax::admin {

namespace {

constexpr std::string_view kHeader = "Idempotency-Key";
constexpr std::size_t kMaxKey = 255;

bool is_visible(char c) {
  return c >= '!' && c <= '~';
}

// The value of an RFC 8941 string; nullopt: malformed.
std::optional<std::string> unquoted(std::string_view text) {
  std::string out;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') {
      const std::string_view after = text.substr(i + 1);
      return after.empty() || after.front() == ';' ? std::optional(out) : std::nullopt;
    }
    if (text[i] == '\\' && (++i == text.size() || (text[i] != '"' && text[i] != '\\'))) break;
    out += text[i];
  }
  return std::nullopt;
}

std::optional<std::string> key_in(std::string_view text) {
  const bool quoted = text.starts_with('"');
  if (!quoted && text.find_first_of("\",;") != std::string_view::npos) return std::nullopt;
  std::optional<std::string> key = quoted ? unquoted(text) : std::optional(std::string(text));
  const bool good = key && !key->empty() && key->size() <= kMaxKey &&
                    std::all_of(key->begin(), key->end(), is_visible);
  return good ? key : std::nullopt;
}

}  // namespace

IdempotencyKey idempotency_key(const http::Head& head) {
  IdempotencyKey found;
  for (const Header& each : head.headers) {
    if (!equal_ignoring_case(each.name, kHeader)) continue;
    const bool first = !found.value && !found.malformed;
    found.value = first ? key_in(each.value) : std::nullopt;
    found.malformed = !found.value;
  }
  return found;
}

}  // namespace hapax::admin
