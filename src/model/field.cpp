// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "model/field.hpp"

#include "base/ascii.hpp"
#include "base/base64.hpp"
#include "base/form.hpp"
#include "base/json_pointer.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace hapax {

namespace {

using From = Field::From;

struct Prefix {
  From from;
  std::string_view text;
};

constexpr std::array<Prefix, 5> kPrefixes{{
    {From::header, "header:"},
    {From::json, "json:"},
    {From::form, "form:"},
    {From::query, "query:"},
    {From::jwt, "jwt:"},
}};

// A character of a header name (RFC 9110, 5.6.2).
bool is_token_letter(char letter) {
  return is_alphanumeric_or("!#$%&'*+-.^_`|~", letter);
}

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_token_letter);
}

// Comma-separated header names.
bool are_tokens(std::string_view text) {
  const std::size_t comma = text.find(',');
  if (!is_token(text.substr(0, comma))) return false;
  return comma == std::string_view::npos || are_tokens(text.substr(comma + 1));
}

Error not_a_field(std::string_view text, std::string_view remedy) {
  constexpr std::size_t kShown = 100;
  std::string detail("'");
  detail += text.substr(0, kShown);
  detail += text.size() > kShown ? "...' " : "' ";
  detail += "is not a part of a request; ";
  detail += remedy;
  return Error(Code::invalid_argument, std::move(detail));
}

// The correction to suggest; empty if the name is valid.
std::string_view remedy(From from, std::string_view name) {
  if (name.size() > kMaxFieldName) return "a name has at most 1024 bytes";
  if (from == From::json) {
    if (is_json_pointer(name)) return {};
    return "after json: write a JSON pointer of up to 32 steps, like json:/data/id, with ~1 for / "
           "and ~0 for ~ inside a name";
  }
  if (from == From::header) {
    return are_tokens(name) ? ""
                            : "after header: write the name of a header, like header:X-Event-Id";
  }
  if (from == From::jwt) {
    const std::size_t colon = std::min(name.find(':'), name.size());
    const bool good = is_token(name.substr(0, colon)) && colon < name.size() &&
                      is_json_pointer(name.substr(colon + 1));
    return good ? "" : "after jwt: write a header and a JSON pointer, like jwt:X-Token:/jti";
  }
  return name.empty() ? "after form: or query: write the name of a field, like form:MessageSid"
                      : "";
}

FieldStatus status_of(const JsonValue& value) {
  switch (value.status) {
    case JsonStatus::absent:
      return FieldStatus::absent;
    case JsonStatus::ambiguous:
      return FieldStatus::ambiguous;
    case JsonStatus::unreadable:
      return FieldStatus::unreadable;
    case JsonStatus::found:
      break;
  }
  if (value.kind == JsonKind::null) return FieldStatus::absent;
  const bool usable = value.kind == JsonKind::string || value.kind == JsonKind::number;
  return usable ? FieldStatus::found : FieldStatus::unusable;
}

FieldValue without_text(FieldStatus status) {
  FieldValue value;
  value.status = status;
  return value;
}

FieldValue read_json(JsonReader* json, std::string_view pointer) {
  if (json == nullptr) return without_text(FieldStatus::unreadable);
  JsonValue value = json->at(pointer);
  const FieldStatus status = status_of(value);
  if (status != FieldStatus::found) return without_text(status);
  return {status, value.kind == JsonKind::number, std::move(value.text)};
}

FieldValue read_form(std::string_view text, std::string_view name) {
  std::optional<FormMatch> match = find_in_form(text, name);
  if (!match) return without_text(FieldStatus::unreadable);
  if (match->repeated) return without_text(FieldStatus::ambiguous);
  if (!match->found) return {};
  return {FieldStatus::found, false, std::move(match->value)};
}

// The first of these headers that is present.
FieldValue read_headers(const Request& request, std::string_view names) {
  while (true) {
    const std::size_t comma = names.find(',');
    const HeaderValue value = find_header(request, names.substr(0, comma));
    if (value.status != FieldStatus::absent || comma == std::string_view::npos) {
      return {value.status, false, std::string(value.text)};
    }
    names.remove_prefix(comma + 1);
  }
}

FieldValue read_jwt(const Request& request, std::string_view name) {
  const std::size_t colon = name.find(':');
  const HeaderValue header = find_header(request, name.substr(0, colon));
  if (header.status != FieldStatus::found) return without_text(header.status);
  const std::string_view text = header.text;
  const std::size_t first = std::min(text.find('.'), text.size());
  const std::size_t second = std::min(text.find('.', first + 1), text.size());
  if (second == text.size()) return without_text(FieldStatus::unreadable);
  const auto payload = from_base64(text.substr(first + 1, second - first - 1), Base64::url);
  JsonReader json;
  const bool readable = payload && json.open(*payload, 0);
  return read_json(readable ? &json : nullptr, name.substr(colon + 1));
}

}  // namespace

Result<Field> parse_field(std::string_view text) {
  for (const Prefix& prefix : kPrefixes) {
    if (!text.starts_with(prefix.text)) continue;
    const std::string_view name = text.substr(prefix.text.size());
    const std::string_view wrong = remedy(prefix.from, name);
    if (!wrong.empty()) return not_a_field(text, wrong);
    return Field{prefix.from, std::string(name)};
  }
  return not_a_field(text,
                     "write header:NAME, json:/POINTER, form:NAME, query:NAME or "
                     "jwt:HEADER:/POINTER");
}

std::string to_string(const Field& field) {
  return std::string(kPrefixes[static_cast<std::size_t>(field.from)].text) + field.name;
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char left, char right) { return to_lower(left) == to_lower(right); });
}

HeaderValue find_header(const Request& request, std::string_view name) {
  HeaderValue value;
  for (const Header& header : request.headers) {
    if (!equal_ignoring_case(header.name, name)) continue;
    if (value.status == FieldStatus::found) return {FieldStatus::ambiguous, {}};
    value = {FieldStatus::found, header.value};
  }
  return value;
}

FieldValue FieldReader::read(const Field& field) {
  switch (field.from) {
    case From::header:
      return read_headers(request_, field.name);
    case From::jwt:
      return read_jwt(request_, field.name);
    case From::json:
      return read_json(json(), field.name);
    case From::form:
      return read_form(request_.body, field.name);
    case From::query:
      break;
  }
  return read_form(query_of(request_.url), field.name);
}

JsonReader* FieldReader::json() {
  if (opened_ == Opened::no) {
    const bool readable = json_.open(request_.body, request_.body_padding);
    opened_ = readable ? Opened::yes : Opened::failed;
  }
  return opened_ == Opened::yes ? &json_ : nullptr;
}

}  // namespace hapax
