// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "admin/schema.hpp"

#include <algorithm>
#include <array>

namespace hapax::test {

namespace {

namespace json = boost::json;
using Problems = std::vector<std::string>;

// References never leave the document.
const json::value& resolved(const json::value& document, const json::value& value) {
  const json::object* object = value.if_object();
  const json::value* reference = object == nullptr ? nullptr : object->if_contains("$ref");
  if (reference == nullptr) return value;
  return document.at_pointer(reference->as_string().subview(1));
}

std::string_view type_of(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      return "null";
    case json::kind::bool_:
      return "boolean";
    case json::kind::int64:
    case json::kind::uint64:
      return "integer";
    case json::kind::double_:
      return "number";
    case json::kind::string:
      return "string";
    case json::kind::array:
      return "array";
    case json::kind::object:
      break;
  }
  return "object";
}

bool is_of(const json::value& types, const json::value& value) {
  if (types.is_string()) return types.as_string() == type_of(value);
  const json::array& list = types.as_array();
  return std::any_of(list.begin(), list.end(),
                     [&](const json::value& each) { return each.as_string() == type_of(value); });
}

class Checker {
 public:
  explicit Checker(const json::value& document) : document_(document) {}

  void check(const json::value& schema_or_reference, const json::value& value,
             const std::string& at) {
    const json::object& schema = resolved(document_, schema_or_reference).as_object();
    check_words(schema, at);
    if (const auto* types = schema.if_contains("type"); types && !is_of(*types, value)) {
      found.push_back(at + " is a " + std::string(type_of(value)));
      return;
    }
    if (const auto* values = schema.if_contains("enum")) {
      const json::array& list = values->as_array();
      if (std::find(list.begin(), list.end(), value) == list.end()) {
        found.push_back(at + " is " + json::serialize(value));
      }
    }
    if (value.is_object()) check_object(schema, value.as_object(), at);
    const auto* items = schema.if_contains("items");
    if (!value.is_array() || items == nullptr) return;
    for (std::size_t i = 0; i < value.as_array().size(); ++i) {
      check(*items, value.as_array()[i], at + "/" + std::to_string(i));
    }
  }

  Problems found;

 private:
  void check_words(const json::object& schema, const std::string& at) {
    constexpr std::array<std::string_view, 11> kKnown{
        "type",    "properties", "required",    "items",   "enum",  "additionalProperties",
        "minimum", "maximum",    "description", "default", "format"};
    for (const auto& each : schema) {
      const bool known = std::any_of(kKnown.begin(), kKnown.end(),
                                     [&](std::string_view word) { return each.key() == word; });
      if (!known) found.push_back(at + ": the schema says " + std::string(each.key()));
    }
  }

  void check_object(const json::object& schema, const json::object& object, const std::string& at) {
    if (const auto* required = schema.if_contains("required")) {
      for (const json::value& name : required->as_array()) {
        if (object.contains(name.as_string())) continue;
        found.push_back(at + " lacks " + std::string(name.as_string()));
      }
    }
    const auto* properties = schema.if_contains("properties");
    const auto* others = schema.if_contains("additionalProperties");
    for (const auto& member : object) {
      const std::string name(member.key());
      const auto* its = properties ? properties->as_object().if_contains(name) : nullptr;
      if (its != nullptr) check(*its, member.value(), at + "/" + name);
      if (its == nullptr && others != nullptr) found.push_back(at + " has " + name);
    }
  }

  const json::value& document_;
};

std::string to_lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

}  // namespace

Problems violations(const json::value& document, const json::value& schema,
                    const json::value& value) {
  Checker checker(document);
  checker.check(schema, value, "");
  return checker.found;
}

Problems undocumented(const json::value& document, const std::string& method,
                      const std::string& pattern, int status, const std::string& content_type,
                      const std::string& body) {
  const json::object& paths = document.at("paths").as_object();
  if (!paths.contains(pattern)) return {"no path " + pattern};
  const json::object& operations = paths.at(pattern).as_object();
  if (!operations.contains(to_lower(method))) return {"no operation " + method + " " + pattern};
  const json::object& responses = operations.at(to_lower(method)).at("responses").as_object();
  const std::string number = std::to_string(status);
  if (!responses.contains(number)) return {"no response " + number};
  const json::object& content = resolved(document, responses.at(number)).at("content").as_object();
  const std::string media = content_type.substr(0, content_type.find(';'));
  if (!content.contains(media)) return {"no content " + media + " for " + number};
  const auto* schema = content.at(media).as_object().if_contains("schema");
  if (schema == nullptr) return {};
  json::error_code error;
  const json::value value = media == "text/plain" ? json::value(body) : json::parse(body, error);
  if (error) return {"not JSON: " + error.message()};
  return violations(document, *schema, value);
}

}  // namespace hapax::test
