// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "admin/api/resources.hpp"
#include "admin/routes.hpp"
#include "admin/schema.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace hapax::admin {
namespace {

namespace json = boost::json;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

std::string method_of(const Route& route) {
  std::string method(route.method);
  for (char& c : method) c = static_cast<char>(c - 'A' + 'a');
  return method;
}

json::value document() {
  return json::parse(openapi_document());
}

TEST(OpenApi, DescribesEveryRouteAndNothingElse) {
  std::set<std::string> described;
  const json::value whole = document();
  for (const auto& path : whole.at("paths").as_object()) {
    for (const auto& operation : path.value().as_object()) {
      described.insert(std::string(operation.key()) + " " + std::string(path.key()));
    }
  }
  std::set<std::string> served;
  for (const Route& each : routes()) {
    served.insert(method_of(each) + " " + std::string(each.pattern));
  }
  EXPECT_EQ(described, served);
}

TEST(OpenApi, MarksRoutesThatNeedNoToken) {
  const json::value whole = document();
  for (const Route& each : routes()) {
    const std::string method = method_of(each);
    const json::object& operation =
        whole.at("paths").at(json::string_view(each.pattern)).at(method).as_object();
    const bool open = operation.contains("security") && operation.at("security").as_array().empty();
    EXPECT_EQ(open, !each.token) << each.pattern;
    EXPECT_EQ(operation.at("responses").as_object().contains("401"), each.token) << each.pattern;
    EXPECT_EQ(operation.at("responses").as_object().contains("403"), each.token) << each.pattern;
  }
}

TEST(OpenApi, ResolvesItsReferences) {
  const json::value whole = document();
  const std::string text(openapi_document());
  constexpr std::string_view kMark = "\"$ref\": \"#";
  std::size_t count = 0;
  for (std::size_t at = text.find(kMark); at != std::string::npos; at = text.find(kMark, at + 1)) {
    const std::size_t begin = at + kMark.size();
    const std::string pointer = text.substr(begin, text.find('"', begin) - begin);
    json::error_code error;
    EXPECT_NE(whole.find_pointer(pointer, error), nullptr) << pointer;
    ++count;
  }
  EXPECT_GT(count, 50U);
}

// The checker itself must report violations.
TEST(Schema, ReportsEveryViolation) {
  const json::value schema = json::parse(R"({"type":"object","additionalProperties":false,
      "required":["a"],"properties":{"a":{"type":["integer","null"]},
      "b":{"type":"array","items":{"type":"string","enum":["x","y"]}}}})");
  const auto check = [&](const char* text) {
    return test::violations(nullptr, schema, json::parse(text));
  };
  EXPECT_THAT(check(R"({"a":1,"b":["x","y"]})"), IsEmpty());
  EXPECT_THAT(check(R"({"a":null})"), IsEmpty());
  EXPECT_THAT(check("[]"), ElementsAre(" is a array"));
  EXPECT_THAT(check("{}"), ElementsAre(" lacks a"));
  EXPECT_THAT(check(R"({"a":"1","c":2})"), UnorderedElementsAre("/a is a string", " has c"));
  EXPECT_THAT(check(R"({"a":1,"b":["z",3]})"), ElementsAre("/b/0 is \"z\"", "/b/1 is a integer"));
  EXPECT_THAT(test::violations(nullptr, json::parse(R"({"minLength":3})"), "x"),
              ElementsAre(": the schema says minLength"));
}

TEST(Schema, ReportsUndocumentedResponses) {
  const json::value whole = document();
  const auto check = [&](const char* path, int status, const char* type, const char* body) {
    return test::undocumented(whole, "GET", path, status, type, body);
  };
  EXPECT_THAT(check("/healthz", 200, "application/json", R"({"status":"ok"})"), IsEmpty());
  EXPECT_THAT(check("/healthz", 200, "application/json", R"({"status":"no"})"),
              ElementsAre("/status is \"no\""));
  EXPECT_THAT(check("/healthz", 404, "application/json", "{}"), ElementsAre("no response 404"));
  EXPECT_THAT(check("/healthz", 200, "text/html", "{}"),
              ElementsAre("no content text/html for 200"));
  EXPECT_THAT(check("/nowhere", 200, "text/html", "{}"), ElementsAre("no path /nowhere"));
}

}  // namespace
}  // namespace hapax::admin
