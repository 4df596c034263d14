// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "identify/rule.hpp"

#include "base/json_pointer.hpp"
#include "base/try.hpp"

#include <algorithm>

namespace hapax {

namespace {

constexpr std::string_view kHash = "hash:";
constexpr std::string_view kJson = "json:";

Error wrong(std::string_view option, std::string_view why) {
  std::string detail(option);
  detail += ": ";
  detail += why;
  return Error(Code::misconfigured, std::move(detail));
}

Result<Field> parse_place(std::string_view option, std::string_view text) {
  Result<Field> field = parse_field(text);
  if (!field) return wrong(option, field.error().detail());
  return field;
}

Result<std::optional<Field>> parse_optional(std::string_view option, std::string_view text) {
  if (text.empty()) return std::optional<Field>();
  HAPAX_TRY_ASSIGN(field, parse_place(option, text));
  return std::optional<Field>(std::move(field));
}

Result<void> parse_id(const IdentityRule& rule, ParsedRule& parsed) {
  for (const std::string_view place : rule.id) {
    if (place.empty()) continue;
    if (place == "none") {
      parsed.every_arrival = true;
      continue;
    }
    HAPAX_TRY_ASSIGN(field, parse_place("id", place));
    parsed.id.push_back(std::move(field));
  }
  if (parsed.every_arrival && (!parsed.id.empty() || !rule.id_fallback.empty())) {
    return wrong("id", "\"none\" means no id; remove it or the other places");
  }
  if (!parsed.every_arrival && parsed.id.empty() && rule.id_fallback.empty()) {
    return wrong("id",
                 "write the place of the event id, like json:/id or header:X-Event-Id; or \"none\" "
                 "if the sender provides no id, and every request is a new event");
  }
  return {};
}

Result<void> parse_fallback(std::string_view text, std::vector<Field>& parts) {
  if (text.empty()) return {};
  constexpr std::string_view kRemedy =
      "write hash: and up to 16 JSON pointers with commas between, like hash:/from,/sent_at";
  if (!text.starts_with(kHash)) return wrong("id_fallback", kRemedy);
  for (std::size_t from = kHash.size(); from <= text.size();) {
    const std::size_t end = std::min(text.find(',', from), text.size());
    const std::string_view pointer = text.substr(from, end - from);
    const bool good = !pointer.empty() && pointer.size() <= kMaxFieldName &&
                      is_json_pointer(pointer) && parts.size() < kMaxHashParts;
    if (!good) return wrong("id_fallback", kRemedy);
    parts.push_back({Field::From::json, std::string(pointer)});
    from = end + 1;
  }
  return {};
}

bool has_star(std::string_view pointer) {
  while (!pointer.empty()) {
    const PointerStep step(pointer);
    if (step.is_star()) return true;
    pointer = step.rest();
  }
  return false;
}

bool is_json(const Field& field) {
  return field.from == Field::From::json;
}

bool is_form(const Field& field) {
  return field.from == Field::From::form;
}

bool reads_a_form(const ParsedRule& parsed) {
  for (const std::optional<Field>* field :
       {&parsed.type, &parsed.order_key, &parsed.version, &parsed.tenant}) {
    if (*field && is_form(**field)) return true;
  }
  return std::any_of(parsed.id.begin(), parsed.id.end(), is_form);
}

// Rejects fields that make no sense for a body that is an array of events.
Result<void> check_split(const ParsedRule& parsed) {
  if (reads_a_form(parsed)) {
    return wrong("split",
                 "a body that is split is JSON and has no form: places; write json: places");
  }
  if (!parsed.id.empty() && std::none_of(parsed.id.begin(), parsed.id.end(), is_json)) {
    return wrong("id", "every event of a split request would have the same id; add a json: place");
  }
  return {};
}

Result<void> parse_split(const IdentityRule& rule, ParsedRule& parsed) {
  if (rule.split.empty()) return {};
  const bool in_json = rule.split.starts_with(kJson);
  const std::string_view pointer = rule.split.substr(in_json ? kJson.size() : 0);
  if (!in_json || pointer.size() > kMaxFieldName || !is_json_pointer(pointer) ||
      !has_star(pointer)) {
    return wrong("split",
                 "write the place of the array of events, with * for its elements, like "
                 "json:/* or json:/items/*/item");
  }
  if (rule.split_max == 0 || rule.split_max > kMaxSplit) {
    return wrong("split_max", "write a number from 1 to 100000");
  }
  parsed.split = std::string(pointer);
  parsed.split_max = rule.split_max;
  return check_split(parsed);
}

}  // namespace

Result<ParsedRule> parse_rule(const IdentityRule& rule) {
  ParsedRule parsed;
  HAPAX_TRY(parse_id(rule, parsed));
  HAPAX_TRY(parse_fallback(rule.id_fallback, parsed.fallback));
  HAPAX_TRY_ASSIGN(type, parse_optional("type", rule.type));
  HAPAX_TRY_ASSIGN(order_key, parse_optional("order_key", rule.order_key));
  HAPAX_TRY_ASSIGN(version, parse_optional("version", rule.version));
  HAPAX_TRY_ASSIGN(tenant, parse_optional("tenant", rule.tenant));
  parsed.type = std::move(type);
  parsed.order_key = std::move(order_key);
  parsed.version = std::move(version);
  parsed.tenant = std::move(tenant);
  HAPAX_TRY(parse_split(rule, parsed));
  return parsed;
}

}  // namespace hapax
