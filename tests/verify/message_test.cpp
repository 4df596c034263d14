// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "verify/message.hpp"

#include "base/hex.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace hapax::verify_detail {
namespace {

using testing::HasSubstr;

class MessageTest : public testing::Test {
 protected:
  // The rendered message, or "!reason: detail".
  std::string render(std::string_view form) {
    const Result<Message> message = Message::parse(form);
    if (!message) return "!" + std::string(message.error().detail());
    const Request request{method_, url_, headers_, body_, 0};
    const Headers headers(request, alias_);
    JsonReader json;
    FieldReader fields(request, json);
    const Ingredients from{request, headers,     fields,  "1760000000", "sEcReT",
                           "key-1", parameters_, nullptr, time_header_};
    StringSink sink;
    if (const MaybeFailure failure = message->render(from, sink)) {
      return "!" + std::string(name(failure->reason)) + ": " + failure->detail;
    }
    return sink.text;
  }

  std::string method_ = "POST";
  std::string url_ = "https://h.example.com/a/b?z=1&a=2%20";
  std::vector<Header> headers_ = {{"X-Id", "id-1"}, {"X-List", "x-list,X-Id"}};
  std::string body_ = R"({"id":"e1","n":1.50,"t":true,"nil":null,"o":{"p":"\u00e9"},"a":[1, 2]})";
  std::array<std::string, 2> alias_;
  std::vector<OwnedHeader> parameters_ = {{"webhook", "w1"}};
  std::string_view time_header_;
};

TEST_F(MessageTest, EveryPlaceholderRendersItsPart) {
  EXPECT_EQ(render(""), "");
  EXPECT_EQ(render("text}with}braces"), "text}with}braces");
  EXPECT_EQ(render("a{body}z"), "a" + body_ + "z");
  EXPECT_EQ(render("{method} {path}"), "POST /a/b?z=1&a=2%20");
  EXPECT_EQ(render("{url}"), url_);
  EXPECT_EQ(render("{url:port}"), "https://h.example.com:443/a/b?z=1&a=2%20");
  EXPECT_EQ(render("{url:no_port}"), url_);
  EXPECT_EQ(render("{url:hubspot}"), url_);
  EXPECT_EQ(render("{time}.{secret}.{key_id}"), "1760000000.sEcReT.key-1");
  EXPECT_EQ(render("{param:webhook}"), "w1");
  EXPECT_EQ(render("{header:x-id}"), "id-1");
  EXPECT_EQ(render("{query:a}"), "2 ");
  EXPECT_EQ(render("{query:sorted}"), "a=2%20&z=1");
  EXPECT_EQ(render("{json:/id}|{json:/n}|{json:/t}|{json:/o/p}"), "e1|1.50|true|\xc3\xa9");
  EXPECT_EQ(render("{json?:/none}{json?:/nil}{json*:/id}"), "e1");
  EXPECT_EQ(render("{body:item:/a}"), "[1, 2]");
  EXPECT_EQ(render("{body:item:/o}"), R"({"p":"\u00e9"})");
  EXPECT_EQ(render("{body:sha256}"), hash_of(Hash::sha256, body_).view());
  EXPECT_EQ(render("{body:sha256_hex}"), to_hex(hash_of(Hash::sha256, body_).view()));
  EXPECT_EQ(render("{body:inflated}"), body_);
  EXPECT_EQ(render("{headers:x-list}"), "x-list:x-list,X-Id;x-id:id-1");
  body_ = "123456789";
  EXPECT_EQ(render("{body:crc32}"), "3421780262");
  body_ = "b=2&a=x+y&a=%41&";
  EXPECT_EQ(render("{form:b}"), "2");
  EXPECT_EQ(render("{form:sorted}"), "ax yaAb2");
  EXPECT_EQ(render("{form:sorted_unique}"), "aAax yb2");
  EXPECT_EQ(render("{url:plivo}"), "https://h.example.com/a/b?a=2%20&z=1.aAax yb2");
  body_ = "p=YWJj%0A";
  EXPECT_EQ(render("{form:base64:p}"), "YWJj\n");
  body_ = "{\"a\":\"/\xc3\xa9\"}";
  EXPECT_EQ(render("{body:ascii}"), R"({"a":"\/\u00e9"})");
}

TEST_F(MessageTest, UnknownPlaceholdersAndOpenBracesAreMisconfigured) {
  for (const char* form :
       {"{",        "a{body",     "{}",        "{bodyx}",     "{Body}",     "{ body}",
        "{header}", "{header:}",  "{param}",   "{json}",      "{json?}",    "{json*}",
        "{query}",  "{form}",     "{form:}",   "{body:item}", "{body:md5}", "{url:}",
        "{{body}}", "{headers:}", "{secret:x}"}) {
    const Result<Message> message = Message::parse(form);
    ASSERT_FALSE(message) << form;
    EXPECT_EQ(message.error().code(), Code::misconfigured);
  }
  EXPECT_THAT(std::string(Message::parse("{oops}").error().detail()), HasSubstr("{oops}"));
}

TEST_F(MessageTest, MissingPartsAreNamed) {
  EXPECT_THAT(render("{header:x-none}"), HasSubstr("!signature-missing: the header 'x-none'"));
  EXPECT_THAT(render("{query:none}"), HasSubstr("!signature-missing"));
  EXPECT_THAT(render("{json:/none}"), HasSubstr("!signature-missing"));
  EXPECT_THAT(render("{json:/nil}"), HasSubstr("!signature-missing"));
  EXPECT_THAT(render("{body:item:/none}"), HasSubstr("!signature-missing"));
  EXPECT_THAT(render("{json:/o}"), HasSubstr("!payload-unreadable"));
  EXPECT_THAT(render("{headers:x-none}"), HasSubstr("!signature-missing"));
  headers_.push_back({"x-ID", "other"});
  EXPECT_THAT(render("{header:x-id}"), HasSubstr("!header-malformed"));
  url_ = "https://h/?a=1&a=2";
  EXPECT_THAT(render("{query:a}"), HasSubstr("!header-malformed"));
  body_ = "{\"a\":1,\"a\":2}";
  EXPECT_THAT(render("{json:/a}"), HasSubstr("!payload-unreadable"));
  body_ = "not json";
  EXPECT_THAT(render("{json:/a}"), HasSubstr("!payload-unreadable"));
  EXPECT_THAT(render("{body:item:/a}"), HasSubstr("!payload-unreadable"));
  EXPECT_THAT(render("{form:base64:p}"), HasSubstr("!signature-missing"));
  body_ = "p=a-b";
  EXPECT_THAT(render("{form:base64:p}"), HasSubstr("!payload-unreadable"));
  body_ = "\xff";
  EXPECT_THAT(render("{body:ascii}"), HasSubstr("!payload-unreadable"));
  body_.clear();
  for (int i = 0; i < 20'000; ++i) body_ += "a=1&";
  EXPECT_THAT(render("{form:sorted}"), HasSubstr("!payload-unreadable"));
  EXPECT_THAT(render("{url:plivo}"), HasSubstr("!payload-unreadable"));
}

TEST_F(MessageTest, AnAliasReplacesAMissingHeader) {
  alias_ = {"svix-", "webhook-"};
  headers_ = {{"Webhook-Id", "w"}, {"svix-time", "s"}, {"webhook-time", "w"}};
  EXPECT_EQ(render("{header:svix-id}{header:svix-time}"), "ws");
  EXPECT_THAT(render("{header:svix-none}"), HasSubstr("!signature-missing"));
  headers_.push_back({"webhook-ID", "again"});
  EXPECT_THAT(render("{header:svix-id}"), HasSubstr("!header-malformed"));
}

TEST_F(MessageTest, AListOfHeadersMustIncludeTheTimeAndBeShort) {
  time_header_ = "x-time";
  EXPECT_THAT(render("{headers:x-list}"), HasSubstr("!signature-invalid"));
  headers_ = {{"x-list", "x-list,X-Time"}, {"x-time", "5"}};
  EXPECT_EQ(render("{headers:x-list}"), "x-list:x-list,X-Time;x-time:5");
  time_header_ = {};
  const std::string gone = "x-list,\n<b>";
  headers_ = {{"x-list", gone}};
  EXPECT_THAT(render("{headers:x-list}"), testing::Not(HasSubstr("<b>")))
      << "an error must not quote input";
  std::string many = "x-list";
  for (int i = 0; i < 100; ++i) many += ",x-list";
  headers_ = {{"x-list", many}};
  EXPECT_THAT(render("{headers:x-list}"), HasSubstr("!header-malformed"));
  const std::string huge(100'000, ',');
  headers_ = {{"x-list", huge}};
  EXPECT_THAT(render("{headers:x-list}"), HasSubstr("!header-malformed"));
}

TEST_F(MessageTest, AJsonValueMustNotContainTheSeparator) {
  body_ = R"({"a":"1:2","b":"3","c":"4"})";
  EXPECT_THAT(render("{json:/a}:{json:/b}"), HasSubstr("!payload-unreadable"));
  EXPECT_THAT(render("{json:/b}:{json?:/a}"), HasSubstr("!payload-unreadable"));
  EXPECT_EQ(render("{json:/b}:{json*:/a}:{json:/c}"), "3:1:2:4");
  EXPECT_EQ(render("{json:/a}{json:/b}"), "1:23");
}

TEST_F(MessageTest, ItListsEveryNameInUse) {
  const Result<Message> message = Message::parse("{time}{header:a}{param:p}{headers:l}{header:b}");
  ASSERT_TRUE(message);
  EXPECT_TRUE(message->uses("time"));
  EXPECT_FALSE(message->uses("key_id"));
  EXPECT_FALSE(message->uses("no such"));
  EXPECT_THAT(message->headers(), testing::ElementsAre("a", "b"));
  EXPECT_THAT(message->listed_headers(), testing::ElementsAre("l"));
  EXPECT_THAT(message->parameters(), testing::ElementsAre("p"));
}

}  // namespace
}  // namespace hapax::verify_detail
