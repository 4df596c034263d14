// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "admin/json_reader.hpp"

#include "base/try.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <cmath>

namespace hapax::admin {

namespace json = boost::json;

namespace {

// A name is shown cut: it may be a stranger's.
constexpr std::size_t kMaxShown = 64;

Error unusable(const std::string& what, std::string_view write) {
  return Error(Code::invalid_argument, what + "; write " + std::string(write));
}

}  // namespace

Result<json::value> parse_json(std::string_view body, std::string_view write) {
  json::error_code error;
  json::value value = json::parse(json::string_view(body.data(), body.size()), error);
  if (error) return unusable("the body is not JSON: " + error.message(), write);
  return value;
}

Result<JsonReader> JsonReader::of(const json::value& value, std::string where,
                                  std::string_view write,
                                  std::initializer_list<std::string_view> allowed) {
  const json::object* const object = value.if_object();
  if (object == nullptr) {
    const std::string what =
        where.empty() ? std::string("the body") : where.substr(0, where.size() - 1);
    return unusable(what + " is not a JSON object", write);
  }
  for (const auto& member : *object) {
    const std::string_view name(member.key().data(), member.key().size());
    if (std::find(allowed.begin(), allowed.end(), name) != allowed.end()) continue;
    return unusable("there is no member '" + where + std::string(name.substr(0, kMaxShown)) + "'",
                    write);
  }
  return JsonReader(*object, std::move(where), write);
}

Error JsonReader::bad(std::string_view name, std::string_view what) const {
  return unusable(where_ + std::string(name) + " " + std::string(what), write_);
}

Result<std::string> JsonReader::text(std::string_view name) const {
  HAPAX_TRY_ASSIGN(found, text_if(name));
  if (!found) return bad(name, "is missing");
  return *std::move(found);
}

Result<std::optional<std::string>> JsonReader::text_if(std::string_view name) const {
  const json::value* const value = object_->if_contains(name);
  if (value == nullptr) return std::optional<std::string>();
  const json::string* const text = value->if_string();
  if (text == nullptr) return bad(name, "is not a string");
  return std::optional(std::string(text->data(), text->size()));
}

Result<std::int64_t> JsonReader::number(std::string_view name) const {
  const json::value* const value = object_->if_contains(name);
  if (value == nullptr) return bad(name, "is missing");
  const std::int64_t* const number = value->if_int64();
  if (number == nullptr) return bad(name, "is not a whole number");
  return *number;
}

Result<std::int64_t> JsonReader::number_or(std::string_view name, std::int64_t least,
                                           std::int64_t most, std::int64_t otherwise) const {
  const json::value* const value = object_->if_contains(name);
  if (value == nullptr) return otherwise;
  const std::int64_t* const number = value->if_int64();
  if (number == nullptr || *number < least || *number > most) {
    return bad(name, "is not a whole number from " + std::to_string(least) + " to " +
                         std::to_string(most));
  }
  return *number;
}

Result<std::optional<std::chrono::milliseconds>> JsonReader::seconds_if(
    std::string_view name, std::chrono::seconds least, std::chrono::seconds most) const {
  const json::value* const value = object_->if_contains(name);
  if (value == nullptr) return std::optional<std::chrono::milliseconds>();
  json::error_code error;
  const auto seconds = value->is_number() ? value->to_number<double>(error) : std::nan("");
  // Also what is not a number is not within.
  const bool good =
      seconds >= static_cast<double>(least.count()) && seconds <= static_cast<double>(most.count());
  if (!good || error) {
    return bad(name, "is not a number of seconds from " + std::to_string(least.count()) + " to " +
                         std::to_string(most.count()));
  }
  return std::optional(
      std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(seconds * 1000))));
}

Result<const json::array*> JsonReader::list(std::string_view name, std::size_t most) const {
  const json::value* const value = object_->if_contains(name);
  if (value == nullptr) return bad(name, "is missing");
  const json::array* const list = value->if_array();
  if (list == nullptr) return bad(name, "is not a list");
  if (list->size() > most) {
    return bad(name, "has more than " + std::to_string(most) + " entries");
  }
  return list;
}

}  // namespace hapax::admin
