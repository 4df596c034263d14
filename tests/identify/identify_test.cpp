// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include <hapax/identify.hpp>

#include "base/hex.hpp"
#include "base/sha256.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

namespace hapax {
namespace {

using namespace std::literals;

IdentityRule by_id(std::string_view place) {
  IdentityRule rule;
  rule.id = {place};
  return rule;
}

IdentityRule by_ids(std::string_view first, std::string_view second) {
  IdentityRule rule;
  rule.id = {first, second};
  return rule;
}

Request post(std::string_view body) {
  Request request;
  request.body = body;
  return request;
}

Identified identify(const IdentityRule& rule, const Request& request) {
  Scratch scratch;
  return Identifier::make(rule).value().identify(request, scratch);
}

Item only_item(const IdentityRule& rule, const Request& request) {
  Identified identified = identify(rule, request);
  EXPECT_EQ(identified.reason, Reason::none) << identified.detail;
  if (identified.items.size() != 1) {
    ADD_FAILURE() << identified.items.size() << " items";
    return {};
  }
  return std::move(identified.items.front());
}

Identity identity(const IdentityRule& rule, std::string_view body) {
  const Item item = only_item(rule, post(body));
  EXPECT_EQ(item.reason, Reason::none) << item.detail;
  return item.identity;
}

Item refused(const IdentityRule& rule, std::string_view body, Reason reason) {
  Item item = only_item(rule, post(body));
  EXPECT_EQ(item.reason, reason) << body << ": " << item.detail;
  EXPECT_FALSE(item.detail.empty());
  EXPECT_EQ(item.identity.id, "");
  EXPECT_EQ(item.identity.key, "");
  return item;
}

void expect_misconfigured(const IdentityRule& rule, std::string_view in_detail) {
  const Result<Identifier> made = Identifier::make(rule);
  ASSERT_FALSE(made) << in_detail;
  EXPECT_EQ(made.error().code(), Code::misconfigured);
  EXPECT_NE(made.error().detail().find(in_detail), std::string::npos) << made.error().detail();
}

std::string quoted(std::size_t size) {
  return "\"" + std::string(size, 'x') + "\"";
}

TEST(Identify, TheIdIsReadFromEveryKindOfField) {
  EXPECT_EQ(identity(by_id("json:/data/id"), R"({"data":{"id":"evt_1"}})").id, "evt_1");
  EXPECT_EQ(identity(by_id("form:id"), "a=1&id=evt%5F1").id, "evt_1");
  const std::array headers{Header{"X-Id", "evt_1"}};
  Request request = post("not JSON, and not looked at");
  request.headers = headers;
  request.url = "https://h/in/x?id=evt_2";
  EXPECT_EQ(only_item(by_id("header:x-id"), request).identity.id, "evt_1");
  EXPECT_EQ(only_item(by_id("query:id"), request).identity.id, "evt_2");
}

TEST(Identify, TheEventIsTheExactBody) {
  const std::string body = R"( {"id":"a"} )";
  const Item item = only_item(by_id("json:/id"), post(body));
  EXPECT_EQ(item.bytes.data(), body.data());
  EXPECT_EQ(item.bytes.size(), body.size());
}

TEST(Identify, StringsAreUnescapedAndNumbersKeepTheirText) {
  EXPECT_EQ(identity(by_id("json:/id"), R"({"id":"a\u002fb"})").id, "a/b");
  EXPECT_EQ(identity(by_id("json:/id"), R"({"id":12345678901234567890})").id,
            "12345678901234567890");
  EXPECT_EQ(identity(by_id("json:/id"), R"({"id":1.0})").id, "1.0");
  EXPECT_EQ(identity(by_id("json:/id"), R"({"id":1e5})").id, "1e5");
}

TEST(Identify, EscapesDoNotChangeTheIdentity) {
  EXPECT_EQ(identity(by_id("json:/id"), R"({"id":"ab"})").key,
            identity(by_id("json:/id"), R"({"\u0069d":"\u0061b"})").key);
}

TEST(Identify, AStringAndANumberAreDifferentIds) {
  const Identity text = identity(by_id("json:/id"), R"({"id":"1"})");
  const Identity number = identity(by_id("json:/id"), R"({"id":1})");
  EXPECT_EQ(text.id, number.id);
  EXPECT_NE(text.key, number.key);
  EXPECT_EQ(text.key, identity(by_id("form:id"), "id=1").key);
}

TEST(Identify, KeysSortLikeTheirIds) {
  const auto key = [](std::string_view id) {
    return identity(by_ids("json:/account", "json:/id"),
                    R"({"account":"acct_1","id":")" + std::string(id) + "\"}")
        .key;
  };
  EXPECT_LT(key("018f-1"), key("018f-2"));
  EXPECT_LT(key("018f-1"), key("018f-10"));
  EXPECT_LT(key("018f-10"), key("018f-2"));
}

TEST(Identify, ACompositeIdDependsOnTheBoundariesOfItsParts) {
  const auto both = [](std::string_view a, std::string_view b) {
    std::string body = R"({"a":)";
    return identity(by_ids("json:/a", "json:/b"),
                    body.append(a).append(R"(,"b":)").append(b) + "}");
  };
  std::set<std::string> keys;
  for (const auto& [a, b] :
       std::vector<std::pair<std::string_view, std::string_view>>{{R"("ab")", R"("c")"},
                                                                  {R"("a")", R"("bc")"},
                                                                  {R"("a/b")", R"("c")"},
                                                                  {R"("a")", R"("b/c")"},
                                                                  {"1", "2"},
                                                                  {R"("1")", "2"},
                                                                  {"1", R"("2")"},
                                                                  {"12", "3"}}) {
    keys.insert(both(a, b).key);
  }
  EXPECT_EQ(keys.size(), 8U);
  EXPECT_EQ(both(R"("ab")", "7").id, "ab/7");
}

// A single part with the bytes of a two-part key must not equal that key.
TEST(Identify, KeysOfDifferentNumbersOfPartsNeverCollide) {
  const std::string two = identity(by_ids("form:a", "form:b"), "a=x&b=y").key;
  for (std::size_t cut = 0; cut < two.size(); ++cut) {
    std::string encoded = "id=";
    for (const char each : two.substr(cut)) encoded += "%" + to_hex({&each, 1});
    EXPECT_NE(identity(by_id("form:id"), encoded).key, two);
  }
}

TEST(Identify, AMissingOrNullPartIsIdMissing) {
  const IdentityRule rule = by_ids("json:/a", "json:/b");
  EXPECT_NE(refused(rule, R"({"a":"1"})", Reason::id_missing).detail.find("json:/b"),
            std::string::npos);
  refused(rule, R"({"b":"1"})", Reason::id_missing);
  refused(rule, R"({"a":null,"b":"1"})", Reason::id_missing);
  refused(rule, R"({"a":"1","b":null})", Reason::id_missing);
  refused(rule, "{}", Reason::id_missing);
  refused(rule, "[]", Reason::id_missing);
  refused(rule, "7", Reason::id_missing);
  refused(by_id("form:id"), "", Reason::id_missing);
  refused(by_id("query:id"), "", Reason::id_missing);
  refused(by_id("header:X"), "", Reason::id_missing);
}

TEST(Identify, AnEmptyIdOrOneOfAnotherTypeIsIdMissing) {
  for (const char* id : {"true", "false", "{}", "[]", R"(["a"])", R"({"a":"b"})", R"("")"}) {
    refused(by_id("json:/id"), R"({"id":)" + std::string(id) + "}", Reason::id_missing);
  }
  EXPECT_NE(refused(by_id("form:id"), "id=", Reason::id_missing).detail.find("empty"),
            std::string::npos);
  const std::array headers{Header{"X-Id", ""}};
  Request request;
  request.headers = headers;
  EXPECT_EQ(only_item(by_id("header:X-Id"), request).reason, Reason::id_missing);
}

TEST(Identify, ARepeatedMemberOnThePathIsIdAmbiguous) {
  for (const char* body :
       {R"({"a":{"id":"1","id":"1"}})", R"({"a":{"id":"1"},"a":{"id":"1"}})",
        R"({"a":{"id":"1","\u0069\u0064":"2"}})", R"({"\u0061":null,"a":{"id":"1"}})"}) {
    refused(by_id("json:/a/id"), body, Reason::id_ambiguous);
  }
  refused(by_id("form:id"), "id=1&id=1", Reason::id_ambiguous);
  const std::array headers{Header{"X-Id", "1"}, Header{"X-ID", "1"}};
  Request request;
  request.headers = headers;
  EXPECT_EQ(only_item(by_id("header:X-Id"), request).reason, Reason::id_ambiguous);
}

TEST(Identify, AnUnreadableBodyIsRejectedAsAWhole) {
  for (const std::string_view body :
       {""sv, "x"sv, "{\"id\":\"1\""sv, "\xef\xbb\xbf{\"id\":\"1\"}"sv, "{\"id\":\"\xff\\n\"}"sv,
        "{\"id\":\"a\0b\"}"sv, "{\"id\":01}"sv, "{\"id\":\"1\"} x"sv, "\0"sv,
        "{\"id\":\"\\ud800\"}"sv}) {
    const Identified identified = identify(by_id("json:/id"), post(body));
    EXPECT_EQ(identified.reason, Reason::payload_unreadable) << body;
    EXPECT_TRUE(identified.items.empty());
    EXPECT_NE(identified.detail.find("json:/id"), std::string::npos);
  }
  std::string many;
  for (int i = 0; i < 10'001; ++i) many += "a&";
  EXPECT_EQ(identify(by_id("form:id"), post(many)).reason, Reason::payload_unreadable);
}

// A signed event is not rejected because an optional field cannot be read.
TEST(Identify, AnUnreadableOptionalFieldIsEmpty) {
  const std::array headers{Header{"X-Id", "1"}};
  Request request = post("payload=not+json");
  request.headers = headers;
  for (std::string_view IdentityRule::*option :
       {&IdentityRule::type, &IdentityRule::order_key, &IdentityRule::version}) {
    IdentityRule rule = by_id("header:X-Id");
    rule.*option = "json:/x";
    const Identified identified = identify(rule, request);
    EXPECT_EQ(identified.reason, Reason::none);
    ASSERT_EQ(identified.items.size(), 1U);
    const Identity& identity = identified.items[0].identity;
    EXPECT_EQ(identity.id, "1");
    EXPECT_EQ(identity.type + identity.order_key, "");
    EXPECT_FALSE(identity.version);
  }
  IdentityRule rule = by_id("header:X-Id");
  rule.tenant = "json:/x";
  EXPECT_EQ(identify(rule, request).reason, Reason::payload_unreadable) << "the tenant is required";
}

TEST(Identify, AnIdMayHaveAnyBytes) {
  std::string all;
  std::string encoded = "id=";
  for (int byte = 0; byte < 256; ++byte) {
    const char each = static_cast<char>(byte);
    all += each;
    encoded += "%" + to_hex({&each, 1});
  }
  const Identity got = identity(by_id("form:id"), encoded);
  EXPECT_EQ(got.id, all);
  EXPECT_EQ(got.key, "s" + all);
  EXPECT_EQ(identity(by_id("json:/id"), R"({"id":"a\u0000b"})").id, "a\0b"s);
  EXPECT_EQ(identity(by_id("json:/id"), "{\"id\":\"\xff\x80\"}").key, "s\xff\x80");
}

TEST(Identify, TheLimitsAreInclusive) {
  EXPECT_EQ(identity(by_id("json:/id"), R"({"id":)" + quoted(1024) + "}").id.size(), 1024U);
  const Item over =
      refused(by_id("json:/id"), R"({"id":)" + quoted(1025) + "}", Reason::id_missing);
  EXPECT_NE(over.detail.find("1024"), std::string::npos);
  EXPECT_EQ(over.detail.find("xxx"), std::string::npos);
  const auto both = [](std::size_t size) {
    return R"({"a":)" + quoted(size) + R"(,"b":)" + quoted(512) + "}";
  };
  EXPECT_EQ(identity(by_ids("json:/a", "json:/b"), both(511)).id.size(), 1024U);
  refused(by_ids("json:/a", "json:/b"), both(512), Reason::id_missing);
  refused(by_id("json:/id"), R"({"id":)" + std::string(2000, '7') + "}", Reason::id_missing);
}

TEST(Identify, WithoutAnIdEveryArrivalIsANewEvent) {
  const Identity got = identity(by_id("none"), "anything");
  EXPECT_EQ(got.id, "");
  EXPECT_EQ(got.key, "");
  IdentityRule rule = by_id("none");
  rule.type = "json:/type";
  EXPECT_EQ(identity(rule, R"({"type":"t"})").type, "t");
}

IdentityRule with_fallback(std::string_view fallback) {
  IdentityRule rule = by_id("json:/id");
  rule.id_fallback = fallback;
  return rule;
}

TEST(IdFallback, IsTheHashOfItsPartsWhenTheIdIsAbsent) {
  const IdentityRule rule = with_fallback("hash:/a,/b/c");
  EXPECT_EQ(identity(rule, R"({"id":"x","a":"1","b":{"c":2}})").id, "x");
  const Identity got = identity(rule, R"({"a":"1","b":{"c":23}})");
  const Digest digest = sha256("s\0\0\0\0\0\0\0\1"s + "1" + "n\0\0\0\0\0\0\0\2"s + "23");
  EXPECT_EQ(got.id, "hash:" + to_hex(view(digest)));
  EXPECT_EQ(got.key, "h" + std::string(view(digest)));
  EXPECT_EQ(identity(rule, R"({"id":null,"b":{"c":23},"a":"1"})").key, got.key);
}

TEST(IdFallback, DependsOnPartsAndTheirKinds) {
  const IdentityRule rule = with_fallback("hash:/a,/b");
  std::set<std::string> keys;
  for (const char* body :
       {R"({"a":"ab","b":"c"})", R"({"a":"a","b":"bc"})", R"({"a":"1","b":"2"})",
        R"({"a":1,"b":"2"})", R"({"a":1,"b":2})", R"({"a":2,"b":1})", R"({"a":1.0,"b":2})"}) {
    keys.insert(identity(rule, body).key);
  }
  EXPECT_EQ(keys.size(), 7U);
}

TEST(IdFallback, NoIdCollidesWithAHash) {
  const IdentityRule rule = with_fallback("hash:/a");
  const Identity hashed = identity(rule, R"({"a":"1"})");
  const Identity spelled = identity(rule, R"({"id":")" + hashed.id + "\"}");
  EXPECT_EQ(spelled.id, hashed.id);
  EXPECT_NE(spelled.key, hashed.key);
}

TEST(IdFallback, AMissingNullOrEmptyPartIsIdMissing) {
  const IdentityRule rule = with_fallback("hash:/a,/b");
  for (const char* body :
       {R"({"a":"1"})", R"({"a":"1","b":null})", R"({"a":"1","b":""})", "{}",
        R"({"a":null,"b":null})", R"({"a":"1","b":true})", R"({"a":"1","b":{}})"}) {
    const Item item = refused(rule, body, Reason::id_missing);
    EXPECT_NE(item.detail.find("id_fallback"), std::string::npos) << item.detail;
  }
  refused(rule, R"({"a":"1","b":"2","b":"2"})", Reason::id_ambiguous);
}

// A retry with a damaged id must not become a second event under another identity.
TEST(IdFallback, DoesNotReplaceAnUnusableId) {
  const IdentityRule rule = with_fallback("hash:/a");
  refused(rule, R"({"id":"","a":"1"})", Reason::id_missing);
  refused(rule, R"({"id":{},"a":"1"})", Reason::id_missing);
  refused(rule, R"({"id":)" + quoted(1025) + R"(,"a":"1"})", Reason::id_missing);
  refused(rule, R"({"id":"1","id":"2","a":"1"})", Reason::id_ambiguous);
}

TEST(IdFallback, ReplacesACompositeIdWithAMissingPart) {
  IdentityRule rule = by_ids("json:/x", "json:/y");
  rule.id_fallback = "hash:/a";
  EXPECT_EQ(identity(rule, R"({"x":"1","a":"2"})").key, identity(rule, R"({"a":"2"})").key);
}

TEST(IdFallback, CanBeTheOnlyId) {
  IdentityRule rule;
  rule.id_fallback = "hash:/a";
  EXPECT_TRUE(identity(rule, R"({"a":"1"})").id.starts_with("hash:"));
  refused(rule, "{}", Reason::id_missing);
}

TEST(Identify, TypeOrderKeyVersionAndTenantAreRead) {
  IdentityRule rule = by_id("json:/id");
  rule.type = "json:/type";
  rule.order_key = "json:/object/id";
  rule.version = "json:/object/updated";
  rule.tenant = "json:/account";
  const Identity got = identity(
      rule,
      R"({"id":"1","type":"a.b","account":77,"object":{"id":"o","updated":"2025-10-09T08:53:20Z"}})");
  EXPECT_EQ(got.type, "a.b");
  EXPECT_EQ(got.order_key, "o");
  EXPECT_EQ(got.version, 1'760'000'000'000'000);
  EXPECT_EQ(got.tenant, "77");
}

TEST(Identify, MissingOrInvalidOptionalFieldsAreEmpty) {
  IdentityRule rule = by_id("json:/id");
  rule.type = "json:/x";
  rule.order_key = "json:/y";
  rule.version = "json:/z";
  for (const char* body :
       {R"({"id":"1"})", R"({"id":"1","x":null,"y":null,"z":null})",
        R"({"id":"1","x":true,"y":false,"z":true})", R"({"id":"1","x":{},"y":[],"z":{}})",
        R"({"id":"1","x":"","y":"","z":""})", R"({"id":"1","x":"1","x":"2","z":"1","z":"2"})"}) {
    const Identity got = identity(rule, body);
    EXPECT_EQ(got.type, "") << body;
    EXPECT_EQ(got.order_key, "") << body;
    EXPECT_EQ(got.version, std::nullopt) << body;
  }
}

TEST(Identify, TwoOrderKeysAreRejected) {
  IdentityRule rule = by_id("json:/id");
  rule.order_key = "json:/y";
  const Item item = refused(rule, R"({"id":"1","y":"1","y":"2"})", Reason::id_ambiguous);
  EXPECT_NE(item.detail.find("order_key"), std::string::npos);
}

TEST(Identify, AnOversizedOrderKeyIsRejectedAndAnOversizedTypeIsEmpty) {
  IdentityRule rule = by_id("json:/id");
  rule.order_key = "json:/y";
  rule.type = "json:/t";
  EXPECT_EQ(identity(rule, R"({"id":"1","y":)" + quoted(1024) + "}").order_key.size(), 1024U);
  const Item over =
      refused(rule, R"({"id":"1","y":)" + quoted(1025) + "}", Reason::payload_unreadable);
  EXPECT_NE(over.detail.find("order_key"), std::string::npos);
  EXPECT_EQ(identity(rule, R"({"id":"1","t":)" + quoted(1024) + "}").type.size(), 1024U);
  EXPECT_EQ(identity(rule, R"({"id":"1","t":)" + quoted(1025) + "}").type, "");
}

TEST(Identify, ATenantIsRequiredIfConfigured) {
  IdentityRule rule = by_id("json:/id");
  rule.tenant = "json:/account";
  EXPECT_EQ(identity(rule, R"({"id":"1","account":)" + quoted(128) + "}").tenant.size(), 128U);
  for (const std::string& account : {""s, R"(,"account":null)"s, R"(,"account":"")"s,
                                     R"(,"account":{})"s, R"(,"account":)" + quoted(129)}) {
    const Item item = refused(rule, R"({"id":"1")" + account + "}", Reason::id_missing);
    EXPECT_NE(item.detail.find("tenant"), std::string::npos) << item.detail;
    EXPECT_EQ(item.identity.tenant, "");
  }
  refused(rule, R"({"id":"1","account":"a","account":"b"})", Reason::id_ambiguous);
}

std::optional<std::int64_t> version_of(std::string_view version) {
  IdentityRule rule = by_id("json:/id");
  rule.version = "json:/v";
  return identity(rule, R"({"id":"1","v":)" + std::string(version) + "}").version;
}

TEST(Version, IsAnIntegerOrATimeOrAbsent) {
  EXPECT_EQ(version_of("17"), 17);
  EXPECT_EQ(version_of("\"17\""), 17);
  EXPECT_EQ(version_of("-5"), -5);
  EXPECT_EQ(version_of("0"), 0);
  EXPECT_EQ(version_of("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(version_of("-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(version_of("\"1970-01-01T00:00:01Z\""), 1'000'000);
  EXPECT_EQ(version_of("\"1970-01-01T01:00:01.5+01:00\""), 1'500'000);
  for (const char* none :
       {"9223372036854775808", "-9223372036854775809", "1.0", "1e5", "1.5", "\"\"", "\" 1\"",
        "\"1 \"", "\"+1\"", "\"0x10\"", "\"v1\"", "\"2025-02-29T00:00:00Z\"", "\"2025-10-09\"",
        "\"2025-10-09T08:53:20\"", "true", "null", "{}", "[1]", "\"1\\u0000\""}) {
    EXPECT_EQ(version_of(none), std::nullopt) << none;
  }
}

TEST(Version, CanBeReadFromAHeader) {
  const std::array headers{Header{"X-Version", "12"}};
  Request request;
  request.headers = headers;
  IdentityRule rule = by_id("none");
  rule.version = "header:X-Version";
  EXPECT_EQ(only_item(rule, request).identity.version, 12);
}

IdentityRule split_at(std::string_view split) {
  IdentityRule rule = by_id("json:/id");
  rule.split = split;
  return rule;
}

TEST(Split, EachElementIsAnEventWithItsExactSlice) {
  const std::string body = R"( [ {"id":"a", "x":[1]} ,{"id":2}] )";
  const Identified identified = identify(split_at("json:/*"), post(body));
  ASSERT_EQ(identified.reason, Reason::none);
  ASSERT_EQ(identified.items.size(), 2U);
  EXPECT_EQ(identified.items[0].bytes, R"({"id":"a", "x":[1]})");
  EXPECT_EQ(identified.items[0].bytes.data(), body.data() + 3);
  EXPECT_EQ(identified.items[0].identity.id, "a");
  EXPECT_EQ(identified.items[1].bytes, R"({"id":2})");
  EXPECT_EQ(identified.items[1].identity.key, "n2");
}

TEST(Split, CanSelectAMemberOfEachElement) {
  const Identified identified = identify(
      split_at("json:/notificationItems/*/NotificationRequestItem"),
      post(R"({"live":"false","notificationItems":[{"NotificationRequestItem":{"id":"1"}},)"
           R"({"NotificationRequestItem":{"id":"2"}}]})"));
  ASSERT_EQ(identified.items.size(), 2U);
  EXPECT_EQ(identified.items[1].bytes, R"({"id":"2"})");
  EXPECT_EQ(identified.items[1].identity.id, "2");
}

TEST(Split, AnItemWithoutAnIdIsRejectedAlone) {
  const Identified identified =
      identify(split_at("json:/*"), post(R"([{"id":"1"},{},{"id":"2","id":"3"},7,{"id":"4"}])"));
  ASSERT_EQ(identified.reason, Reason::none);
  ASSERT_EQ(identified.items.size(), 5U);
  const Reason reasons[] = {Reason::none, Reason::id_missing, Reason::id_ambiguous,
                            Reason::id_missing, Reason::none};
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(identified.items[i].reason, reasons[i]);
    EXPECT_EQ(identified.items[i].detail.empty(), reasons[i] == Reason::none);
    EXPECT_EQ(identified.items[i].identity.id.empty(), reasons[i] != Reason::none);
  }
  EXPECT_EQ(identified.items[1].bytes, "{}");
  EXPECT_EQ(identified.items[4].identity.id, "4");
}

TEST(Split, HeadersAndQueryAreTheSameForEveryItem) {
  const std::array headers{Header{"X-Batch", "b1"}};
  Request request = post(R"([{"id":"1"},{"id":"2"}])");
  request.headers = headers;
  request.url = "/in/x?type=t";
  IdentityRule rule = by_ids("header:X-Batch", "json:/id");
  rule.type = "query:type";
  rule.split = "json:/*";
  const Identified identified = identify(rule, request);
  ASSERT_EQ(identified.items.size(), 2U);
  EXPECT_EQ(identified.items[0].identity.id, "b1/1");
  EXPECT_EQ(identified.items[1].identity.id, "b1/2");
  EXPECT_EQ(identified.items[1].identity.type, "t");
}

TEST(Split, AnElementCanBeItsOwnId) {
  IdentityRule rule = by_id("json:");
  rule.split = "json:/*";
  const Identified identified = identify(rule, post(R"(["a",2,{}])"));
  ASSERT_EQ(identified.items.size(), 3U);
  EXPECT_EQ(identified.items[0].identity.id, "a");
  EXPECT_EQ(identified.items[1].identity.key, "n2");
  EXPECT_EQ(identified.items[2].reason, Reason::id_missing);
}

TEST(Split, AnEmptyArrayHasNoEventsAndIsNotAnError) {
  const Identified identified = identify(split_at("json:/*"), post(" [ ] "));
  EXPECT_EQ(identified.reason, Reason::none);
  EXPECT_TRUE(identified.items.empty());
}

TEST(Split, MoreThanTheLimitIsTooLarge) {
  IdentityRule rule = split_at("json:/*");
  rule.split_max = 2;
  EXPECT_EQ(identify(rule, post(R"([{"id":1},{"id":2}])")).items.size(), 2U);
  const Identified over = identify(rule, post(R"([{"id":1},{"id":2},{"id":3}])"));
  EXPECT_EQ(over.reason, Reason::body_too_large);
  EXPECT_TRUE(over.items.empty());
  EXPECT_NE(over.detail.find('2'), std::string::npos);
}

TEST(Split, ANonArrayIsRejectedAsAWhole) {
  for (const std::string_view body :
       {R"({})"sv, R"({"e":{}})"sv, R"({"e":null})"sv, "7"sv, ""sv, R"({"e":[{"id":"1"}])"sv,
        R"({"e":[{"id":"1"},]})"sv, R"({"e":[{"id" "1"}]})"sv}) {
    const Identified identified = identify(split_at("json:/e/*"), post(body));
    EXPECT_EQ(identified.reason, Reason::payload_unreadable) << body;
    EXPECT_TRUE(identified.items.empty());
    EXPECT_FALSE(identified.detail.empty());
  }
  EXPECT_EQ(identify(split_at("json:/e/*"), post(R"({"e":[{"id":"1"}],"e":[]})")).reason,
            Reason::id_ambiguous);
}

TEST(Split, ItemsAreTheSameWithAndWithoutPadding) {
  std::string body = "[";
  for (int i = 0; i < 50; ++i) body += R"({"id":"e)" + std::to_string(i) + R"(\n"},)";
  body.back() = ']';
  std::string padded = body + std::string(kBodyPadding, ']');
  Request in_place = post({padded.data(), body.size()});
  in_place.body_padding = kBodyPadding;
  const Identified one = identify(split_at("json:/*"), post(body));
  const Identified other = identify(split_at("json:/*"), in_place);
  ASSERT_EQ(one.items.size(), 50U);
  ASSERT_EQ(other.items.size(), 50U);
  for (std::size_t i = 0; i < 50; ++i) {
    EXPECT_EQ(one.items[i].identity.id, "e" + std::to_string(i) + "\n");
    EXPECT_EQ(one.items[i].identity.key, other.items[i].identity.key);
    EXPECT_EQ(one.items[i].bytes, other.items[i].bytes);
  }
}

TEST(Identify, ALargeBodyIsRead) {
  const std::string filler(10UL << 20, 'y');
  EXPECT_EQ(identity(by_id("json:/id"), R"({"x":")" + filler + R"(","id":"1"})").id, "1");
  const Identified identified =
      identify(split_at("json:/*"), post(R"([{"x":")" + filler + R"(","id":"1"},{"id":"2"}])"));
  ASSERT_EQ(identified.items.size(), 2U);
  EXPECT_EQ(identified.items[0].identity.id, "1");
  EXPECT_EQ(identified.items[1].identity.id, "2");
}

TEST(Identify, DeepNestingIsReadUpToALimit) {
  const std::string deep = std::string(300'000, '[') + std::string(300'000, ']');
  EXPECT_EQ(identity(by_id("json:/id"), R"({"x":)" + deep + R"(,"id":"1"})").id, "1");
  refused(by_id("json:/id"), R"({"id":)" + deep + "}", Reason::id_missing);
  EXPECT_EQ(identify(by_id("json:/id"), post(std::string(300'000, '['))).reason,
            Reason::payload_unreadable);
}

TEST(Identify, AScratchCanBeReusedForManyRequests) {
  Scratch scratch;
  const Identifier json = Identifier::make(by_id("json:/id")).value();
  const Identifier split = Identifier::make(split_at("json:/*")).value();
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(json.identify(post("{"), scratch).reason, Reason::payload_unreadable);
    EXPECT_EQ(split.identify(post(R"([{"id":"1"}])"), scratch).items.size(), 1U);
    EXPECT_EQ(json.identify(post(R"({"id":"2"})"), scratch).items[0].identity.id, "2");
  }
}

TEST(IdentityRule, AnIdOrNoneIsRequired) {
  expect_misconfigured({}, "json:/id");
  expect_misconfigured({}, "none");
  expect_misconfigured(by_ids("none", "json:/id"), "none");
  IdentityRule rule = by_id("none");
  rule.id_fallback = "hash:/a";
  expect_misconfigured(rule, "none");
}

TEST(IdentityRule, ErrorsNameTheInvalidFieldAndARemedy) {
  expect_misconfigured(by_id("id"), "id: 'id'");
  expect_misconfigured(by_id("json:id"), "json:/data/id");
  expect_misconfigured(by_ids("json:/a", "header:"), "header:X-Event-Id");
  const std::pair<std::string_view IdentityRule::*, std::string_view> options[] = {
      {&IdentityRule::type, "type: "},
      {&IdentityRule::order_key, "order_key: "},
      {&IdentityRule::version, "version: "},
      {&IdentityRule::tenant, "tenant: "}};
  for (const auto& [option, name] : options) {
    IdentityRule rule = by_id("json:/id");
    rule.*option = "none";
    expect_misconfigured(rule, name);
  }
}

TEST(IdentityRule, EmptyPartsAreSkipped) {
  EXPECT_EQ(identity(by_ids("", "json:/id"), R"({"id":"1"})").key,
            identity(by_id("json:/id"), R"({"id":"1"})").key);
}

TEST(IdentityRule, AFallbackMustBeAHashOfPointers) {
  for (const std::string& fallback :
       {"/a"s, "hash:"s, "hash:a"s, "hash:/a,"s, "hash:,/a"s, "hash:/a,b"s, "hash:/~2"s, "json:/a"s,
        "HASH:/a"s, "hash:/a, /b"s, "hash:/" + std::string(2000, 'x'),
        "hash:/0,/1,/2,/3,/4,/5,/6,/7,/8,/9,/10,/11,/12,/13,/14,/15,/16"s}) {
    expect_misconfigured(with_fallback(fallback), "hash:/from,/sent_at");
  }
}

TEST(IdentityRule, ASplitNeedsAStarInAJsonPointer) {
  for (const char* split : {"/*", "json:", "json:/a", "json:*", "json:/a*", "json:/**", "form:*",
                            "header:X", "json:/*/~2"}) {
    expect_misconfigured(split_at(split), "json:/items/*/item");
  }
  IdentityRule rule = split_at("json:/*");
  rule.split_max = 0;
  expect_misconfigured(rule, "split_max");
  rule.split_max = 100'001;
  expect_misconfigured(rule, "split_max");
}

TEST(IdentityRule, ASplitWhoseEventsShareAnIdIsRejected) {
  IdentityRule rule = by_ids("header:X-Id", "query:q");
  rule.split = "json:/*";
  expect_misconfigured(rule, "same id");
  rule.id = {"header:X-Id", "json:/id"};
  EXPECT_TRUE(Identifier::make(rule));
  rule.id = {"none"};
  EXPECT_TRUE(Identifier::make(rule));
}

TEST(IdentityRule, AFormInASplitBodyIsRejected) {
  IdentityRule rule = split_at("json:/*");
  rule.id = {"form:id"};
  expect_misconfigured(rule, "form:");
  rule.id = {"json:/id"};
  rule.type = "form:type";
  expect_misconfigured(rule, "form:");
}

}  // namespace
}  // namespace hapax
