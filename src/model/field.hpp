// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "base/json.hpp"

#include <hapax/error.hpp>
#include <hapax/verify.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hapax {

inline constexpr std::size_t kMaxFieldName = 1024;

// Names one part of a request: "header:X-Id", "json:/data/id", "form:Name", "query:name".
// "header:X-Id,Y-Id" reads the first header that is present. "jwt:X-Token:/jti" reads the payload
// of the token in that header; the signature is not checked here.
struct Field {
  enum class From : std::uint8_t { header, json, form, query, jwt };
  From from = From::header;
  std::string name;
};

// The invalid_argument error describes the mistake and the correction. "json:" alone is the whole
// body.
Result<Field> parse_field(std::string_view text);

std::string to_string(const Field& field);  // inverse of parse_field()

enum class FieldStatus : std::uint8_t {
  found,
  absent,      // missing or JSON null
  ambiguous,   // present more than once
  unreadable,  // not JSON, not a JWT, or too many form fields
  unusable,    // JSON, but neither a string nor a number
};

struct FieldValue {
  FieldStatus status = FieldStatus::absent;
  bool number = false;  // a JSON number; `text` is written as in the body
  std::string text;
};

// The result of find_header(); ambiguous if the header is repeated. `text` is a view of the
// request.
struct HeaderValue {
  FieldStatus status = FieldStatus::absent;
  std::string_view text;
};
HeaderValue find_header(const Request& request, std::string_view name);

bool equal_ignoring_case(std::string_view a, std::string_view b);  // ASCII letters only

// Reads fields of one request. The body is parsed as JSON at most once, on first use; a form is
// searched again for each field. Refers to the request and the JSON reader; create one per request,
// on the stack.
class FieldReader {
 public:
  FieldReader(const Request& request, JsonReader& json) : request_(request), json_(json) {}

  FieldValue read(const Field& field);

  // The body, parsed as JSON; nullptr if it is not JSON.
  JsonReader* json();

 private:
  enum class Opened : std::uint8_t { no, yes, failed };

  const Request& request_;
  JsonReader& json_;
  Opened opened_ = Opened::no;
};

}  // namespace hapax
