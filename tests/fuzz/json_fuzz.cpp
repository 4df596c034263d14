// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// The input is a pointer (its length is the first byte) and a document. The value must not depend
// on whether the document is copied or on the bytes after it, must lie inside of it, and must equal
// the value of simdjson's own strict parser if that accepts the document.
#include "base/check.hpp"
#include "base/json.hpp"
#include "base/json_pointer.hpp"

#include <hapax/verify.hpp>

#include <simdjson.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

namespace {

using namespace hapax;

bool same(const JsonValue& a, const JsonValue& b) {
  if (a.status != b.status || a.status != JsonStatus::found) return a.status == b.status;
  return a.kind == b.kind && a.text == b.text && a.raw == b.raw;
}

void check_inside(std::string_view document, std::string_view slice) {
  HAPAX_CHECK(slice.data() >= document.data());
  HAPAX_CHECK(slice.data() + slice.size() <= document.data() + document.size());
  HAPAX_CHECK(!slice.empty());
}

// The bytes of a scalar are also a document with the same value.
void check_alone(const JsonValue& value) {
  if (value.kind == JsonKind::object || value.kind == JsonKind::array) return;
  JsonReader reader;
  HAPAX_CHECK(reader.open(value.raw, 0));
  HAPAX_CHECK(same(reader.at(""), value));
}

void check_elements(JsonReader& reader, std::string_view document, std::string_view pointer) {
  constexpr std::size_t kLimit = 8;
  const JsonElements elements = reader.each(pointer, kLimit);
  HAPAX_CHECK(elements.raw.size() <= kLimit);
  HAPAX_CHECK(elements.raw.empty() || (elements.status == JsonStatus::found && !elements.too_many));
  const char* end = document.data();
  for (const std::string_view slice : elements.raw) {
    check_inside(document, slice);
    HAPAX_CHECK(slice.data() >= end);
    end = slice.data() + slice.size();
  }
}

void check_with_strict_parser(std::string_view document, std::string_view pointer,
                              const JsonValue& value, bool opened) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  const std::string copy(document);
  if (parser.parse(copy).get(root) != simdjson::SUCCESS) return;
  HAPAX_CHECK(opened && value.status != JsonStatus::unreadable);
  if (!is_json_pointer(pointer) || value.status == JsonStatus::ambiguous) return;
  simdjson::dom::element element;
  const bool there = root.at_pointer(pointer).get(element) == simdjson::SUCCESS;
  HAPAX_CHECK(there == (value.status == JsonStatus::found));
  if (!there) return;
  std::string_view text;
  const bool is_string = element.get(text) == simdjson::SUCCESS;
  HAPAX_CHECK(is_string == (value.kind == JsonKind::string));
  HAPAX_CHECK(!is_string || text == value.text);
  HAPAX_CHECK(element.is_object() == (value.kind == JsonKind::object));
  HAPAX_CHECK(element.is_array() == (value.kind == JsonKind::array));
  HAPAX_CHECK(element.is_null() == (value.kind == JsonKind::null));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data + 2), size - 2);
  const std::string_view pointer = input.substr(0, std::min<std::size_t>(data[0], input.size()));
  const std::string_view text = input.substr(pointer.size());

  const auto padded = std::make_unique<char[]>(text.size() + kBodyPadding);
  char* end = std::copy(text.begin(), text.end(), padded.get());
  std::fill_n(end, kBodyPadding, static_cast<char>(data[1]));
  const std::string_view in_place(padded.get(), text.size());

  JsonReader copying;
  JsonReader reading;
  const bool opened = copying.open(text, 0);
  HAPAX_CHECK(reading.open(in_place, kBodyPadding) == opened);
  const JsonValue value = copying.at(pointer);
  HAPAX_CHECK(same(reading.at(pointer), value));
  HAPAX_CHECK(same(reading.at(pointer), value));
  if (value.status == JsonStatus::found) {
    check_inside(text, value.raw);
    check_alone(value);
  }
  check_with_strict_parser(text, pointer, value, opened);
  check_elements(copying, text, pointer);
  check_elements(reading, in_place, pointer);
  return 0;
}
