// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "base/json.hpp"

#include <hapax/request.hpp>
#include <hapax/result.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hapax {

inline constexpr std::size_t kMaxFieldName = 1024;

// Names one part of a request: "header:X-Id", "json:/data/id", "form:Name", "query:name". Of
// "header:X-Id,Y-Id" the first that is there counts. "jwt:X-Token:/jti" is a part of the payload of
// the token in that header; whether it is signed is not looked at here.
struct Field {
  enum class From : std::uint8_t { header, json, form, query, jwt };
  From from = From::header;
  std::string name;
};

// invalid_argument says what is wrong and what to write. "json:" alone is the whole body.
Result<Field> parse_field(std::string_view text);

std::string to_string(const Field& field);  // as parse_field() reads it

enum class FieldStatus : std::uint8_t {
  found,
  absent,      // not there, or JSON null
  ambiguous,   // there more than once
  unreadable,  // the body is not what it has to be: not JSON, too many form fields
  unusable,    // JSON of another type than string or number
};

struct FieldValue {
  FieldStatus status = FieldStatus::absent;
  bool number = false;  // a JSON number: `text` is written as in the body
  std::string text;
};

// Finds the one header called `name`. Repeated: ambiguous. The view is into the request.
struct HeaderValue {
  FieldStatus status = FieldStatus::absent;
  std::string_view text;
};
HeaderValue find_header(const Request& request, std::string_view name);

bool equal_ignoring_case(std::string_view a, std::string_view b);  // ASCII letters only

// Reads fields of one request. The body is opened as JSON at most once, and only when a field asks
// for it; a form is searched anew for each field. Views the request and the reader; make one per
// request, on the stack.
class FieldReader {
 public:
  FieldReader(const Request& request, JsonReader& json) : request_(request), json_(json) {}

  FieldValue read(const Field& field);

  // The body, opened as JSON; nullptr when it is not JSON.
  JsonReader* json();

 private:
  enum class Opened : std::uint8_t { no, yes, failed };

  const Request& request_;
  JsonReader& json_;
  Opened opened_ = Opened::no;
};

}  // namespace hapax
