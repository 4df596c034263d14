// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "model/field.hpp"

#include <gtest/gtest.h>

#include <array>

namespace hapax {
namespace {

using namespace std::literals;

FieldValue read(const Request& request, std::string_view place) {
  Scratch scratch;
  FieldReader reader(request, scratch.json());
  return reader.read(parse_field(place).value());
}

FieldValue in_body(std::string_view body, std::string_view place) {
  Request request;
  request.body = body;
  return read(request, place);
}

FieldValue in_url(std::string_view url, std::string_view place) {
  Request request;
  request.url = url;
  return read(request, place);
}

FieldValue in_headers(std::span<const Header> headers, std::string_view place) {
  Request request;
  request.headers = headers;
  return read(request, place);
}

TEST(Field, ParsedFieldsAreWrittenUnchanged) {
  for (const std::string_view text : {"header:X-Event-Id", "json:/data/id", "json:", "json:/",
                                      "json:/a~1b~0c", "form:Message Sid", "query:id",
                                      "header:!#$%&'*+-.^_`|~09azAZ", "form:a=b&c", "query:\xff"}) {
    const Result<Field> field = parse_field(text);
    ASSERT_TRUE(field) << text;
    EXPECT_EQ(to_string(*field), text);
  }
}

TEST(Field, InvalidFieldsNameARemedy) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"", "header:NAME"},       {"id", "header:NAME"},         {"Json:/id", "json:/POINTER"},
      {"json:id", "json:/data"}, {"json:/a~", "json:/data"},    {"json:/~2", "~1 for /"},
      {"header:", "X-Event-Id"}, {"header:X Id", "X-Event"},    {"header:X:", "X-Event"},
      {"form:", "MessageSid"},   {"query:", "MessageSid"},      {"body:/id", "form:NAME"},
      {" json:/id", "json:/PO"}, {"header:\xc3\xa9", "X-Event"}};
  for (const auto& [text, remedy] : rows) {
    const Result<Field> field = parse_field(text);
    ASSERT_FALSE(field) << text;
    EXPECT_EQ(field.error().code(), Code::invalid_argument);
    EXPECT_NE(field.error().detail().find(remedy), std::string::npos) << field.error().detail();
  }
  EXPECT_FALSE(parse_field("header:a\0b"sv));
}

TEST(Field, ATooLongFieldIsRejectedWithAShortError) {
  EXPECT_TRUE(parse_field("form:" + std::string(kMaxFieldName, 'x')));
  const Result<Field> field = parse_field("form:" + std::string(kMaxFieldName + 1, 'x'));
  ASSERT_FALSE(field);
  EXPECT_LT(field.error().detail().size(), 300U);
}

TEST(FieldReader, HeaderNamesAreCaseInsensitive) {
  const std::array headers{Header{"x-event-ID", "1 "}, Header{"X-Event-Id2", "2"}, Header{"E", ""}};
  EXPECT_EQ(in_headers(headers, "header:X-Event-Id").text, "1 ");
  EXPECT_EQ(in_headers(headers, "header:X-Event-Id").number, false);
  EXPECT_EQ(in_headers(headers, "header:E").status, FieldStatus::found);
  EXPECT_EQ(in_headers(headers, "header:F").status, FieldStatus::absent);
}

TEST(FieldReader, ARepeatedHeaderIsAmbiguousEvenIfTheValuesAreEqual) {
  const std::array headers{Header{"X-Id", "1"}, Header{"Y", "2"}, Header{"x-id", "1"}};
  const FieldValue value = in_headers(headers, "header:X-Id");
  EXPECT_EQ(value.status, FieldStatus::ambiguous);
  EXPECT_EQ(value.text, "");
}

TEST(FieldReader, TheFirstPresentHeaderOfAListIsUsed) {
  const std::array headers{Header{"C", "3"}, Header{"B", "2"}, Header{"D", "4"}, Header{"d", "5"}};
  EXPECT_EQ(in_headers(headers, "header:A,b,C").text, "2");
  EXPECT_EQ(in_headers(headers, "header:C,B").text, "3");
  EXPECT_EQ(in_headers(headers, "header:A,D,B").status, FieldStatus::ambiguous);
  EXPECT_EQ(in_headers(headers, "header:X,Y").status, FieldStatus::absent);
  for (const char* place : {"header:A,", "header:,A", "header:A,,B", "header:A, B"}) {
    EXPECT_FALSE(parse_field(place)) << place;
  }
}

// The token is {"alg":"none"} and {"jti":"t1","n":7} in base64url.
TEST(FieldReader, AClaimOfATokenInAHeaderIsRead) {
  const std::array headers{Header{"X-Token", "eyJhbGciOiJub25lIn0.eyJqdGkiOiJ0MSIsIm4iOjd9.c2ln"},
                           Header{"X-Bad", "a.!!.c"}, Header{"X-Short", "eyJqdGkiOiJ0MSIsIm4iOjd9"},
                           Header{"X-Empty", ".."}};
  EXPECT_EQ(in_headers(headers, "jwt:x-token:/jti").text, "t1");
  EXPECT_TRUE(in_headers(headers, "jwt:X-Token:/n").number);
  EXPECT_EQ(in_headers(headers, "jwt:X-Token:/x").status, FieldStatus::absent);
  EXPECT_EQ(in_headers(headers, "jwt:X-None:/jti").status, FieldStatus::absent);
  for (const char* place : {"jwt:X-Bad:/jti", "jwt:X-Short:/jti", "jwt:X-Empty:/jti"}) {
    EXPECT_EQ(in_headers(headers, place).status, FieldStatus::unreadable) << place;
  }
  for (const char* place : {"jwt:", "jwt:X", "jwt::/a", "jwt:X:a", "jwt:X Y:/a", "jwt:X:/~2"}) {
    EXPECT_FALSE(parse_field(place)) << place;
  }
}

TEST(FieldReader, CaseIsIgnoredForAsciiLettersOnly) {
  EXPECT_TRUE(equal_ignoring_case("aZ-9", "Az-9"));
  EXPECT_FALSE(equal_ignoring_case("@", "`"));
  EXPECT_FALSE(equal_ignoring_case("[", "{"));
  EXPECT_FALSE(equal_ignoring_case("\xc3\x89", "\xc3\xa9"));
  EXPECT_FALSE(equal_ignoring_case("a", "ab"));
  EXPECT_TRUE(equal_ignoring_case("", ""));
}

TEST(FieldReader, JsonStringsAndNumbersAreFound) {
  const FieldValue text = in_body(R"({"id":"\u0031"})", "json:/id");
  EXPECT_EQ(text.status, FieldStatus::found);
  EXPECT_EQ(text.text, "1");
  EXPECT_FALSE(text.number);
  const FieldValue number = in_body(R"({"id":1.0})", "json:/id");
  EXPECT_EQ(number.status, FieldStatus::found);
  EXPECT_EQ(number.text, "1.0");
  EXPECT_TRUE(number.number);
}

TEST(FieldReader, JsonNullIsAbsentAndOtherTypesAreUnusable) {
  EXPECT_EQ(in_body(R"({"id":null})", "json:/id").status, FieldStatus::absent);
  EXPECT_EQ(in_body("{}", "json:/id").status, FieldStatus::absent);
  for (const std::string_view body :
       {R"({"id":true})", R"({"id":false})", R"({"id":{}})", R"({"id":[]})", R"({"id":["1"]})"}) {
    const FieldValue value = in_body(body, "json:/id");
    EXPECT_EQ(value.status, FieldStatus::unusable) << body;
    EXPECT_EQ(value.text, "");
  }
  EXPECT_EQ(in_body(R"({"id":1,"id":1})", "json:/id").status, FieldStatus::ambiguous);
}

TEST(FieldReader, ABodyThatIsNotJsonIsUnreadable) {
  for (const std::string_view body : {""sv, "x"sv, "{"sv, "\xff"sv, "{\"id\":\"\0\"}"sv}) {
    EXPECT_EQ(in_body(body, "json:/id").status, FieldStatus::unreadable) << body;
  }
}

TEST(FieldReader, AFormFieldIsReadFromTheBody) {
  EXPECT_EQ(in_body("a=1&id=x+y%21", "form:id").text, "x y!");
  EXPECT_EQ(in_body("id", "form:id").status, FieldStatus::found);
  EXPECT_EQ(in_body("a=1", "form:id").status, FieldStatus::absent);
  EXPECT_EQ(in_body("id=1&%69d=1", "form:id").status, FieldStatus::ambiguous);
  std::string many;
  for (int i = 0; i < 10'001; ++i) many += "a&";
  EXPECT_EQ(in_body(many, "form:id").status, FieldStatus::unreadable);
}

TEST(FieldReader, AQueryFieldIsReadFromTheUrl) {
  EXPECT_EQ(in_url("https://h/in/x?id=a%2Fb#id=c", "query:id").text, "a/b");
  EXPECT_EQ(in_url("https://h/in/x", "query:id").status, FieldStatus::absent);
  EXPECT_EQ(in_url("/x?id=1&id=2", "query:id").status, FieldStatus::ambiguous);
}

TEST(FieldReader, TheBodyIsParsedOnceAndOnlyOnDemand) {
  const std::string body = R"({"a":1,"b":2})";
  Request request;
  request.body = body;
  Scratch scratch;
  ASSERT_TRUE(scratch.json().open("[7]", 0));
  FieldReader reader(request, scratch.json());
  EXPECT_EQ(reader.read(parse_field("header:X").value()).status, FieldStatus::absent);
  EXPECT_EQ(scratch.json().at("/0").text, "7");  // the body has not been opened yet
  EXPECT_EQ(reader.read(parse_field("json:/a").value()).text, "1");
  EXPECT_EQ(reader.read(parse_field("json:/b").value()).text, "2");
  EXPECT_EQ(reader.json(), &scratch.json());
}

}  // namespace
}  // namespace hapax
