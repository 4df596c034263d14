// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/result.hpp>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace hapax::admin {

// A JSON document of a request. The error says what to write.
Result<boost::json::value> parse_json(std::string_view body, std::string_view write);

// The members of an object in it, which must outlive this. Every error is invalid_argument, names
// the member, and ends with what to write.
class JsonReader {
 public:
  // `where` stands before the names of members: "results[2]."; `write` shows a whole request.
  // Refuses members that are not among `allowed`.
  static Result<JsonReader> of(const boost::json::value& value, std::string where,
                               std::string_view write,
                               std::initializer_list<std::string_view> allowed);

  Result<std::string> text(std::string_view name) const;  // must be there
  Result<std::optional<std::string>> text_if(std::string_view name) const;
  Result<std::int64_t> number(std::string_view name) const;  // must be there
  Result<std::int64_t> number_or(std::string_view name, std::int64_t least, std::int64_t most,
                                 std::int64_t otherwise) const;
  // Also with a fraction; to the millisecond.
  Result<std::optional<std::chrono::milliseconds>> seconds_if(std::string_view name,
                                                              std::chrono::seconds least,
                                                              std::chrono::seconds most) const;
  // A list of up to `most`; must be there.
  Result<const boost::json::array*> list(std::string_view name, std::size_t most) const;

  Error bad(std::string_view name, std::string_view what) const;

 private:
  JsonReader(const boost::json::object& object, std::string where, std::string_view write)
      : object_(&object), where_(std::move(where)), write_(write) {}

  const boost::json::object* object_;
  std::string where_;
  std::string_view write_;
};

}  // namespace hapax::admin
