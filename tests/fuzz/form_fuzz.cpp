// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// Forms, queries and percent encoding: lookups by name match the parsed fields, and fields survive
// encoding and parsing again.
#include "base/check.hpp"
#include "base/form.hpp"
#include "base/hex.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

namespace {

using namespace hapax;

std::string encode(std::string_view bytes) {
  std::string text;
  for (const char each : bytes) text += "%" + to_hex({&each, 1});
  return text;
}

bool same(const FormField& a, const FormField& b) {
  return a.name == b.name && a.value == b.value;
}

void check_again(const std::vector<FormField>& fields) {
  std::string text;
  for (const FormField& field : fields)
    text += encode(field.name) + "=" + encode(field.value) + "&";
  const std::optional<std::vector<FormField>> again = parse_form(text);
  HAPAX_CHECK(again &&
              std::equal(fields.begin(), fields.end(), again->begin(), again->end(), same));
}

void check_found(std::string_view text, const std::vector<FormField>& fields) {
  const std::size_t looked_for = std::min<std::size_t>(fields.size(), 20);
  for (std::size_t i = 0; i < looked_for; ++i) {
    const auto has_name = [&](const FormField& field) { return field.name == fields[i].name; };
    const std::optional<FormMatch> match = find_in_form(text, fields[i].name);
    HAPAX_CHECK(match && match->found);
    HAPAX_CHECK(match->repeated == (std::count_if(fields.begin(), fields.end(), has_name) > 1));
    HAPAX_CHECK(match->value == std::find_if(fields.begin(), fields.end(), has_name)->value);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::optional<std::vector<FormField>> fields = parse_form(input);
  if (fields) {
    HAPAX_CHECK(fields->size() <= kMaxFormFields);
    check_again(*fields);
    check_found(input, *fields);
  }

  HAPAX_CHECK(percent_decode(input).size() <= size);
  HAPAX_CHECK(percent_decode(encode(input)) == input);

  const std::string_view query = query_of(input);
  HAPAX_CHECK(query.find('#') == std::string_view::npos);
  HAPAX_CHECK(query.empty() || *(query.data() - 1) == '?');
  return 0;
}
