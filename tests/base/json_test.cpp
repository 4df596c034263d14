// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/json.hpp"

#include "base/json_pointer.hpp"
#include "support/world.hpp"

#include <hapax/verify.hpp>

#include <gtest/gtest.h>

#include <memory>

namespace hapax {
namespace {

using namespace std::literals;

// A document on the heap, so that a sanitizer detects reads outside of it, followed by `padding`
// bytes that would close or continue an open array, object or string.
class Document {
 public:
  Document(std::string_view text, std::size_t padding, char filler)
      : bytes_(std::make_unique<char[]>(text.size() + padding)),
        size_(text.size()),
        padding_(padding) {
    std::fill_n(std::copy(text.begin(), text.end(), bytes_.get()), padding, filler);
  }
  std::string_view text() const { return {bytes_.get(), size_}; }
  std::size_t padding() const { return padding_; }

 private:
  std::unique_ptr<char[]> bytes_;
  std::size_t size_;
  std::size_t padding_;
};

struct Seen {
  bool opened = false;
  JsonStatus status = JsonStatus::unreadable;
  JsonKind kind = JsonKind::null;
  std::string text;
  std::string raw;

  friend bool operator==(const Seen&, const Seen&) = default;
};

Seen seen_in(const Document& document, std::string_view pointer) {
  JsonReader reader;
  if (!reader.open(document.text(), document.padding())) return {};
  const JsonValue value = reader.at(pointer);
  if (value.status != JsonStatus::found) return {true, value.status, {}, {}, {}};
  EXPECT_GE(value.raw.data(), document.text().data());
  EXPECT_LE(value.raw.data() + value.raw.size(), document.text().data() + document.text().size());
  return {true, value.status, value.kind, value.text, std::string(value.raw)};
}

// The result must not depend on whether the reader copies the document, or on the bytes after it.
Seen see(std::string_view text, std::string_view pointer) {
  const Seen copied = seen_in(Document(text, 0, ' '), pointer);
  for (const char filler : {' ', '}', ']', ',', '"', '1', ':', '\\', '\0'}) {
    EXPECT_EQ(seen_in(Document(text, kBodyPadding, filler), pointer), copied)
        << "followed by: " << filler;
  }
  EXPECT_EQ(seen_in(Document(text, kBodyPadding - 1, '}'), pointer), copied);
  return copied;
}

JsonStatus status(std::string_view text, std::string_view pointer) {
  return see(text, pointer).status;
}

std::string text(std::string_view document, std::string_view pointer) {
  const Seen seen = see(document, pointer);
  EXPECT_EQ(seen.status, JsonStatus::found) << document << " at " << pointer;
  return seen.text;
}

std::string raw(std::string_view document, std::string_view pointer) {
  return see(document, pointer).raw;
}

bool opens(std::string_view document) {
  return see(document, "").opened;
}

JsonElements each(JsonReader& reader, std::string_view document, std::string_view pointer,
                  std::size_t limit = 100) {
  EXPECT_TRUE(reader.open(document, 0)) << document;
  return reader.each(pointer, limit);
}

std::vector<std::string> slices(std::string_view document, std::string_view pointer) {
  JsonReader reader;
  const JsonElements found = each(reader, document, pointer);
  EXPECT_EQ(found.status, JsonStatus::found) << document;
  return {found.raw.begin(), found.raw.end()};
}

JsonStatus each_status(std::string_view document, std::string_view pointer) {
  JsonReader reader;
  return each(reader, document, pointer).status;
}

std::string nested(std::size_t depth, std::string_view open, std::string_view inside,
                   std::string_view close) {
  std::string document;
  for (std::size_t i = 0; i < depth; ++i) document += open;
  document += inside;
  for (std::size_t i = 0; i < depth; ++i) document += close;
  return document;
}

TEST(Json, EveryKindIsFoundWithItsExactBytes) {
  const std::string document =
      R"( { "s" : "x" , "n" : -1.50e+3 , "t" : true , "f" : false , "z" : null ,)"
      R"( "o" : { "a" : [ 1 ] } , "a" : [ 1 , 2 ] , "e" : {} , "l" : [] } )";
  const struct {
    std::string_view pointer;
    JsonKind kind;
    std::string_view raw;
  } rows[] = {
      {"/s", JsonKind::string, "\"x\""},    {"/n", JsonKind::number, "-1.50e+3"},
      {"/t", JsonKind::boolean, "true"},    {"/f", JsonKind::boolean, "false"},
      {"/z", JsonKind::null, "null"},       {"/o", JsonKind::object, R"({ "a" : [ 1 ] })"},
      {"/a", JsonKind::array, "[ 1 , 2 ]"}, {"/e", JsonKind::object, "{}"},
      {"/l", JsonKind::array, "[]"},        {"/o/a/0", JsonKind::number, "1"},
      {"/a/1", JsonKind::number, "2"},
  };
  for (const auto& row : rows) {
    const Seen seen = see(document, row.pointer);
    EXPECT_EQ(seen.status, JsonStatus::found) << row.pointer;
    EXPECT_EQ(seen.kind, row.kind) << row.pointer;
    EXPECT_EQ(seen.raw, row.raw) << row.pointer;
    EXPECT_EQ(seen.text, row.kind == JsonKind::string ? "x" : row.raw) << row.pointer;
  }
}

TEST(Json, TheEmptyPointerIsTheWholeDocument) {
  EXPECT_EQ(raw(" {\"a\":1}\n", ""), "{\"a\":1}");
  EXPECT_EQ(raw("\t[ ]\r\n", ""), "[ ]");
  EXPECT_EQ(raw(" 12 ", ""), "12");
  EXPECT_EQ(text(" \"a\\nb\" ", ""), "a\nb");
  EXPECT_EQ(see("null", "").kind, JsonKind::null);
  EXPECT_EQ(see("true", "").kind, JsonKind::boolean);
}

TEST(Json, StringsAreUnescaped) {
  EXPECT_EQ(text(R"({"a":"\"\\\/\b\f\n\r\t"})", "/a"), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(text(R"({"a":"\u0041\u00e9\u20AC\ud83d\ude00"})", "/a"),
            "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
  EXPECT_EQ(text(R"({"a":"x\u0000y"})", "/a"), "x\0y"s);
  EXPECT_EQ(text("{\"a\":\"\xe2\x82\xac\"}", "/a"), "\xe2\x82\xac");
  EXPECT_EQ(text(R"({"a":""})", "/a"), "");
  EXPECT_EQ(raw(R"({"a":"\u0041"})", "/a"), R"("\u0041")");
}

TEST(Json, AnInvalidEscapeIsUnreadable) {
  for (const char* document :
       {R"({"a":"\x"})", R"({"a":"\u12"})", R"({"a":"\u12g4"})", R"({"a":"\ud800"})",
        R"({"a":"\ud800\u0041"})", R"({"a":"\udc00"})", R"({"a":"\U0041"})"}) {
    EXPECT_EQ(status(document, "/a"), JsonStatus::unreadable) << document;
  }
}

TEST(Json, NumbersKeepTheirText) {
  for (const std::string number :
       {"0", "-0", "1", "12345678901234567890", "1.0", "1e5", "1E+05", "-0.0e-0", "1e99999",
        "0.1000", "9007199254740993", "-9223372036854775809"}) {
    EXPECT_EQ(text("{\"a\":" + number + "}", "/a"), number);
    EXPECT_EQ(text("[" + number + " ,1]", "/0"), number);
    EXPECT_EQ(text(number, ""), number);
  }
  const std::string huge(100'000, '7');
  EXPECT_EQ(text("{\"a\":" + huge + "}", "/a"), huge);
}

TEST(Json, InvalidNumbersAndLiteralsAreUnreadable) {
  for (const std::string token :
       {"01",   "-",         "-a",   "1.",   ".5",  "1e",    "1e+",    "+1",
        "1.e5", "1a",        "0x10", "00",   "-01", "1_0",   "1.2.3",  "Infinity",
        "NaN",  "-Infinity", "tru",  "truE", "nul", "nullx", "falsee", "True",
        "'a'",  "undefined", "\x01", "/",    "1/2", "--1"}) {
    EXPECT_EQ(status("{\"a\":" + token + "}", "/a"), JsonStatus::unreadable) << token;
    EXPECT_EQ(status("{\"a\":" + token + " ,\"b\":1}", "/a"), JsonStatus::unreadable) << token;
    EXPECT_EQ(status(token, ""), JsonStatus::unreadable) << token;
  }
}

TEST(Json, MissingMembersAreAbsent) {
  for (const char* pointer : {"/b", "/a/b", "/a/0", "/l/3", "/l/b", "/o/x", "/s/0", "/A", "/"}) {
    EXPECT_EQ(status(R"({"a":1,"l":[1,2,3],"o":{"y":1},"s":"str"})", pointer), JsonStatus::absent)
        << pointer;
  }
  EXPECT_EQ(status("{}", "/a"), JsonStatus::absent);
  EXPECT_EQ(status("[]", "/0"), JsonStatus::absent);
  EXPECT_EQ(status("12", "/a"), JsonStatus::absent);
  EXPECT_EQ(status("\"a\"", "/0"), JsonStatus::absent);
}

TEST(Json, ARepeatedMemberIsAmbiguousAtEveryLevel) {
  for (const char* document :
       {R"({"a":{"b":{"c":1}},"a":{"b":{"c":1}}})", R"({"a":{"b":{"c":1},"b":2}})",
        R"({"a":{"b":{"c":1,"x":0,"c":1}}})", R"({"a":1,"a":{"b":{"c":1}}})",
        R"({"a":{"b":{"c":1}},"x":[{},{"a":2}],"a":null})", R"({"a":null,"a":null})",
        R"({"a":{"b":{"c":[]," c":2,"c":{}}}})"}) {
    EXPECT_EQ(status(document, "/a/b/c"), JsonStatus::ambiguous) << document;
  }
  EXPECT_EQ(status(R"([{"a":1},{"a":1,"a":2}])", "/1/a"), JsonStatus::ambiguous);
}

TEST(Json, KeysAreComparedUnescaped) {
  EXPECT_EQ(text(R"({"\u0069d":1})", "/id"), "1");
  EXPECT_EQ(text(R"({"i\u0064":1})", "/id"), "1");
  for (const char* document : {R"({"id":1,"\u0069d":2})", R"({"i\u0064":1,"id":2})",
                               R"({"\u0069\u0064":1,"i\u0064":2})"}) {
    EXPECT_EQ(status(document, "/id"), JsonStatus::ambiguous) << document;
  }
  EXPECT_EQ(status(R"({"id":1,"\u0069":2,"id\u0000":3,"\"id":4,"id\"":5})", "/id"),
            JsonStatus::found);
  EXPECT_EQ(text(R"({"\"":1,"a\\":2})", "/\""), "1");
  EXPECT_EQ(text(R"({"\"":1,"a\\":2})", "/a\\"), "2");
  EXPECT_EQ(text(R"({"\ud83d\ude00":3})", "/\xf0\x9f\x98\x80"), "3");
  EXPECT_EQ(text("{\"a\\u0000b\":4}", "/a\0b"s), "4");
}

TEST(Json, AKeyWithAnInvalidEscapeIsUnreadable) {
  EXPECT_EQ(status(R"({"\ud800":1,"id":2})", "/id"), JsonStatus::unreadable);
  EXPECT_EQ(status(R"({"i\q":1,"id":2})", "/id"), JsonStatus::unreadable);
}

TEST(Json, RepeatedMembersOffThePathAreIgnored) {
  EXPECT_EQ(text(R"({"x":1,"x":2,"y":{"id":1,"id":2},"id":"a"})", "/id"), "a");
  EXPECT_EQ(text(R"([{"id":1,"id":2},{"id":3}])", "/1/id"), "3");
}

TEST(Json, PointersFollowRfc6901) {
  const std::string document = R"({"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,)"
                               R"("i\\j":5,"k\"l":6," ":7,"m~n":8,"~1":9,"*":10,"0":11})";
  EXPECT_EQ(raw(document, "/foo"), R"(["bar","baz"])");
  EXPECT_EQ(text(document, "/foo/0"), "bar");
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"/", "0"},     {"/a~1b", "1"}, {"/c%d", "2"},  {"/e^f", "3"}, {"/g|h", "4"}, {"/i\\j", "5"},
      {"/k\"l", "6"}, {"/ ", "7"},    {"/m~0n", "8"}, {"/~01", "9"}, {"/*", "10"},  {"/0", "11"}};
  for (const auto& [pointer, number] : rows) EXPECT_EQ(text(document, pointer), number) << pointer;
}

TEST(Json, AnIndexHasOneSpelling) {
  const std::string document = R"([["a"],"b","c"])";
  EXPECT_EQ(text(document, "/0/0"), "a");
  EXPECT_EQ(text(document, "/2"), "c");
  for (const std::string_view pointer :
       {"/00", "/01", "/-", "/-1", "/+1", "/ 1", "/1 ", "/1.0", "/0x1", "/", "/3",
        "/18446744073709551616", "/99999999999999999999999", "/*"}) {
    EXPECT_EQ(status(document, pointer), JsonStatus::absent) << pointer;
  }
}

TEST(Json, AnInvalidPointerMatchesNothing) {
  for (const std::string_view pointer : {"a", "a/b", "/~", "/~2", "/a~", "~0", " /a", "#/a"}) {
    EXPECT_FALSE(is_json_pointer(pointer)) << pointer;
    EXPECT_EQ(status(R"({"a":1,"~":2,"~2":3})", pointer), JsonStatus::absent) << pointer;
  }
  EXPECT_TRUE(is_json_pointer(nested(kMaxPointerSteps, "/a", "", "")));
  EXPECT_FALSE(is_json_pointer(nested(kMaxPointerSteps + 1, "/a", "", "")));
}

TEST(Json, InvalidJsonDoesNotOpenOrIsUnreadable) {
  EXPECT_FALSE(opens(""));
  EXPECT_FALSE(opens("  \n\t "));
  EXPECT_FALSE(opens("{\"a\":\"open"));
  EXPECT_FALSE(opens("{\"a\":\"\n\"}"));     // a control character in a string
  EXPECT_FALSE(opens("{\"a\":\"x\0y\"}"s));  // a NUL in a string
  for (const std::string_view document : {"{",
                                          "}",
                                          "[",
                                          "]",
                                          "{\"a\":1",
                                          "[1,2",
                                          "{\"a\":1]",
                                          "[1}",
                                          "{\"a\":[1}",
                                          "{\"a\":{\"b\":1}",
                                          "{\"a\" 1}",
                                          "{\"a\":1,}",
                                          "{,}",
                                          "{\"a\":1,,\"b\":2}",
                                          "{a:1}",
                                          "{1:1}",
                                          "{\"a\"}",
                                          "{\"a\":}",
                                          "{\"a\":1 \"b\":2}",
                                          "{\"a\":1}{",
                                          "{\"a\":1}}",
                                          "{\"a\":1} x",
                                          "{\"a\":1},",
                                          "[1]2",
                                          "[1 2]",
                                          "[,1]",
                                          "abc",
                                          "1 2",
                                          "\"a\" \"b\"",
                                          "null null",
                                          "{\"a\":1}\x01",
                                          "{\"a\":\"b\"c}",
                                          "{'a':1}",
                                          "{\"a\":1;\"b\":2}"}) {
    EXPECT_EQ(status(document, "/a"), JsonStatus::unreadable) << document;
  }
  EXPECT_EQ(status("{\"a\":1}\0"s, "/a"), JsonStatus::unreadable);
  EXPECT_EQ(status("\0"s, ""), JsonStatus::unreadable);
}

// Signatures cover the body as received, and one invalid string must not hide the id next to it.
TEST(Json, NonUtf8BytesAreReturnedUnchanged) {
  for (const std::string bytes :
       {"\xff", "\xc0\x80", "\xed\xa0\x80", "\xe2\x82", "\xf8", "a\xfe?", "\x80\xe2\x82\xac"}) {
    const std::string document = "{\"" + bytes + "\":[\"" + bytes + "\"],\"a\":\"" + bytes +
                                 "\" ,\"o\":{\"b\":\"" + bytes + "\\n\",\"c\":\"\\n\"}}";
    EXPECT_EQ(text(document, "/a"), bytes);
    EXPECT_EQ(raw(document, "/a"), "\"" + bytes + "\"");
    EXPECT_EQ(text(document, "/o/c"), "\n");
    const Seen object = see(document, "/o");
    EXPECT_EQ(object.raw, "{\"b\":\"" + bytes + "\\n\",\"c\":\"\\n\"}");
    EXPECT_EQ(object.text, object.raw);
    EXPECT_EQ(status(document, "/o/b"), JsonStatus::unreadable);  // escapes next to such bytes
    EXPECT_EQ(slices(document, "/a").front(), "\"" + bytes + "\"");
  }
}

TEST(Json, InNonUtf8DocumentsOnlyPlainNamesMatch) {
  const std::string document = "{\"\xff\":1,\"id\":2,\"\xfe\":3,\"i\xff\":4,\"?\":5}";
  EXPECT_EQ(text(document, "/id"), "2");
  for (const std::string_view pointer : {"/\xff", "/?", "/i?", "/\xe2\x82\xac"}) {
    EXPECT_EQ(status(document, pointer), JsonStatus::unreadable);
  }
  EXPECT_EQ(status("{\"id\":1,\"x\":\"\xff\",\"\\u0069d\":2}", "/id"), JsonStatus::ambiguous);
}

TEST(Json, AByteOrderMarkIsNotJson) {
  EXPECT_FALSE(opens("\xef\xbb\xbf{\"a\":1}"));
  EXPECT_FALSE(opens("\xef\xbb\xbf"));
  EXPECT_EQ(status("\xff\xfe{\0}\0"s, "/a"), JsonStatus::unreadable);  // UTF-16
}

TEST(Json, ValuesOffThePathAreNotChecked) {
  EXPECT_EQ(text(R"({"x":[1,,tru,01],"a":1})", "/a"), "1");
}

// Found by fuzzing: simdjson is stricter if a closing bracket follows the document, and continues
// past the end if a comma follows.
TEST(Json, BytesAfterADocumentDoNotMatter) {
  for (const std::string_view document :
       {R"({"x":[1},"y"::2],"id":3})", R"({"x":[1},"id":3})", R"({"x":[[1],"id":3})",
        R"({"x":1]],"id":3})", R"({"id":3,"x":[{"y":1})", R"([^1,]])", "[[1]", "[1]]", "[0,[{A]",
        R"({"a":[{"b":1})", R"({"a":[[1],{"b":1})"}) {
    for (const char* pointer : {"/id", "/0", "/0/1", "/1/1", "/a/1", "/a/2", "/a/9"}) {
      see(document, pointer);
    }
    see(document, "");
  }
}

TEST(Json, AnUnreadableDocumentStaysUnreadable) {
  JsonReader reader;
  ASSERT_TRUE(reader.open(R"({"a":{"b" 1},"id":2})", 0));
  EXPECT_EQ(reader.at("/a/b").status, JsonStatus::unreadable);
  EXPECT_EQ(reader.at("/id").status, JsonStatus::unreadable);
  EXPECT_EQ(reader.each("/id", 1).status, JsonStatus::unreadable);
  ASSERT_TRUE(reader.open(R"({"id":2})", 0));
  EXPECT_EQ(reader.at("/id").status, JsonStatus::found);
}

TEST(Json, AReaderThatOpenedNothingFindsNothing) {
  JsonReader reader;
  EXPECT_EQ(reader.at("/a").status, JsonStatus::unreadable);
  EXPECT_EQ(reader.each("/*", 1).status, JsonStatus::unreadable);
  EXPECT_FALSE(reader.open("", 0));
  EXPECT_EQ(reader.at("").status, JsonStatus::unreadable);
}

TEST(Json, ADocumentCanBeReadInAnyOrder) {
  JsonReader reader;
  ASSERT_TRUE(reader.open(R"({"a":[{"b":"\u0041"},2],"c":{"d":"e"}})", 0));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(reader.at("/c/d").text, "e");
    EXPECT_EQ(reader.at("/a/0/b").text, "A");
    EXPECT_EQ(reader.each("/a/*", 1).too_many, true);  // stops in the middle of the array
    EXPECT_EQ(reader.at("/nothing").status, JsonStatus::absent);
    EXPECT_EQ(reader.at("/a").raw, R"([{"b":"\u0041"},2])");
    EXPECT_EQ(reader.at("").raw.front(), '{');
  }
}

TEST(Json, NestingIsLimitedOnlyByThePointer) {
  const std::string deep = nested(200'000, "[", "", "]");
  EXPECT_EQ(text("{\"x\":" + deep + ",\"a\":1}", "/a"), "1");
  EXPECT_EQ(raw("{\"a\":" + deep + "}", "/a").size(), deep.size());
  EXPECT_EQ(raw(deep, "").size(), deep.size());
  EXPECT_EQ(status(deep, nested(kMaxPointerSteps, "/0", "", "")), JsonStatus::found);
  EXPECT_EQ(status(nested(200'000, "{\"a\":", "1", "}"), nested(kMaxPointerSteps, "/a", "", "")),
            JsonStatus::found);
  EXPECT_EQ(status(nested(200'000, "[", "", ""), "/0"), JsonStatus::unreadable);
  EXPECT_EQ(status(nested(200'000, "{\"a\":", "", ""), "/a"), JsonStatus::unreadable);
}

TEST(Json, ALargeDocumentIsReadAndASmallOneAfterIt) {
  const std::string large =
      "{\"x\":\"" + std::string(10UL << 20, 'y') + "\",\"id\":\"evt_1\",\"e\":\"\\n\"}";
  JsonReader reader;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(reader.open(large, 0));
    EXPECT_EQ(reader.at("/id").text, "evt_1");
    EXPECT_EQ(reader.at("/e").text, "\n");
    EXPECT_EQ(reader.at("/x").text.size(), 10UL << 20);
    ASSERT_TRUE(reader.open("[1]", 0));
    EXPECT_EQ(reader.at("/0").text, "1");
  }
}

TEST(Json, AReaderCanBeMovedWithAnOpenDocument) {
  const std::string document = R"({"a":"\u0041"})";
  JsonReader first;
  ASSERT_TRUE(first.open(document, 0));
  JsonReader second = std::move(first);
  EXPECT_EQ(second.at("/a").text, "A");
}

TEST(JsonEach, ReturnsTheExactSlicesInOrder) {
  using Slices = std::vector<std::string>;
  EXPECT_EQ(slices(R"([ {"a":1} , 2 ,"x", [ ] ,null ])", "/*"),
            (Slices{R"({"a":1})", "2", R"("x")", "[ ]", "null"}));
  EXPECT_EQ(slices(R"({"items":[{"item":{"id":1}},{"item":{"id":2} , "x":0}]})", "/items/*/item"),
            (Slices{R"({"id":1})", R"({"id":2})"}));
  EXPECT_EQ(slices(R"({"e":[{"m":[1,2]},{"m":[]},{"m":[3]}]})", "/e/*/m/*"),
            (Slices{"1", "2", "3"}));
  EXPECT_EQ(slices(R"([[1],[2]])", "/*/0"), (Slices{"1", "2"}));
  EXPECT_EQ(slices(R"({"a":1})", "/a"), (Slices{"1"}));
  EXPECT_EQ(slices("[]", "/*"), Slices{});
  EXPECT_EQ(slices(R"({"a":[]})", "/a/*/b"), Slices{});
}

TEST(JsonEach, SlicesPointIntoTheGivenDocument) {
  const std::string document = R"([{"a":1},{"a":2}])";
  JsonReader reader;
  const JsonElements found = each(reader, document, "/*");
  ASSERT_EQ(found.raw.size(), 2U);
  EXPECT_EQ(found.raw[0].data(), document.data() + 1);
  EXPECT_EQ(found.raw[1].data(), document.data() + 9);
}

TEST(JsonEach, AStarOnANonArrayOrAnElementWithoutTheRestIsAbsent) {
  EXPECT_EQ(each_status(R"({"a":{"b":1}})", "/a/*"), JsonStatus::absent);
  EXPECT_EQ(each_status(R"({"a":"b"})", "/a/*"), JsonStatus::absent);
  EXPECT_EQ(each_status(R"({"a":null})", "/a/*"), JsonStatus::absent);
  EXPECT_EQ(each_status(R"({"x":[]})", "/a/*"), JsonStatus::absent);
  EXPECT_EQ(each_status("12", "/*"), JsonStatus::absent);
  EXPECT_EQ(each_status(R"([{"i":1},{}])", "/*/i"), JsonStatus::absent);
  EXPECT_EQ(each_status(R"([{"i":1},7,{"i":2}])", "/*/i"), JsonStatus::absent);
  EXPECT_EQ(each_status(R"([{"m":[1]},{}])", "/*/m/*"), JsonStatus::absent);
  JsonReader reader;
  EXPECT_TRUE(each(reader, R"([{"i":1},{}])", "/*/i").raw.empty());
}

TEST(JsonEach, ARepeatedMemberOnThePathIsAmbiguous) {
  EXPECT_EQ(each_status(R"({"a":[1],"\u0061":[2]})", "/a/*"), JsonStatus::ambiguous);
  EXPECT_EQ(each_status(R"([{"i":1},{"i":1,"i":2}])", "/*/i"), JsonStatus::ambiguous);
}

TEST(JsonEach, ABrokenArrayIsUnreadable) {
  for (const std::string_view document :
       {"[1,2", "[1,]", "[1 2]", "[1,2]]", "[1,tru]", "[1}", "[1,2] 3", "[{\"a\":1]", "[[1,2]"}) {
    JsonReader reader;
    ASSERT_TRUE(reader.open(document, 0)) << document;
    EXPECT_EQ(reader.each("/*", 9).status, JsonStatus::unreadable) << document;
    EXPECT_TRUE(reader.each("/*", 9).raw.empty());
  }
}

TEST(JsonEach, MoreThanTheLimitIsTooMany) {
  JsonReader reader;
  EXPECT_FALSE(each(reader, "[1,2,3]", "/*", 3).too_many);
  const JsonElements over = each(reader, "[1,2,3]", "/*", 2);
  EXPECT_TRUE(over.too_many);
  EXPECT_TRUE(over.raw.empty());
  EXPECT_TRUE(each(reader, "[[1,2],[3]]", "/*/*", 2).too_many);
  EXPECT_TRUE(each(reader, "[1]", "/*", 0).too_many);
  EXPECT_FALSE(each(reader, "[]", "/*", 0).too_many);
}

// A JSON string, with each character escaped or unescaped at random.
std::string written(std::string_view bytes, test::SeededRandom& random) {
  std::string out = "\"";
  for (const char letter : bytes) {
    const bool must = letter == '"' || letter == '\\' || static_cast<unsigned char>(letter) < 0x20;
    if (must || random.below(4) == 0) {
      constexpr std::string_view kDigits = "0123456789abcdef";
      out += "\\u00";
      out += kDigits[static_cast<unsigned char>(letter) >> 4];
      out += kDigits[static_cast<unsigned char>(letter) & 0xf];
    } else {
      out += letter;
    }
  }
  return out + "\"";
}

std::string random_ascii(test::SeededRandom& random) {
  std::string bytes(random.below(12), '\0');
  for (char& letter : bytes) letter = static_cast<char>(random.below(128));
  return bytes;
}

std::string as_step(std::string_view name) {
  std::string step = "/";
  for (const char letter : name) {
    if (letter == '~') step += "~0";
    if (letter == '/') step += "~1";
    if (letter != '~' && letter != '/') step += letter;
  }
  return step;
}

TEST(Json, AnyKeyAndStringRoundTripsInAnyEscaping) {
  test::SeededRandom random(3);
  for (int i = 0; i < 3000; ++i) {
    const std::string key = random_ascii(random);
    const std::string value = random_ascii(random);
    const std::string document =
        "{\"x y\":[1,{}],\"o\":{" + written(key, random) + " : " + written(value, random) + "}}";
    JsonReader reader;
    ASSERT_TRUE(reader.open(document, 0)) << document;
    const JsonValue found = reader.at("/o" + as_step(key));
    ASSERT_EQ(found.status, JsonStatus::found) << document;
    ASSERT_EQ(found.text, value) << document;
  }
}

// All documents of up to kLongest tokens, valid or not.
TEST(Json, NoShortDocumentDependsOnTheBytesAfterIt) {
  constexpr std::string_view kTokens[] = {"{", "}", "[", "]", ",", ":", "\"a\"", "1"};
  constexpr std::size_t kLongest = 5;
  std::size_t count = 1;
  for (std::size_t length = 1; length <= kLongest; ++length) {
    count *= std::size(kTokens);
    for (std::size_t number = 0; number < count; ++number) {
      std::string document;
      std::size_t rest = number;
      for (std::size_t i = 0; i < length; ++i, rest /= std::size(kTokens)) {
        document += kTokens[rest % std::size(kTokens)];
      }
      for (const char* pointer : {"/a", "/1", "/a/1"}) {
        const Seen copied = seen_in(Document(document, 0, ' '), pointer);
        for (const char filler : {',', '}', ']', ':'}) {
          ASSERT_EQ(seen_in(Document(document, kBodyPadding, filler), pointer), copied) << document;
        }
      }
    }
  }
}

TEST(Json, RandomDocumentsAreNeverReadPastTheirEnd) {
  test::SeededRandom random(11);
  const std::string_view good =
      R"({"a":[{"id":"x\n","b":{"c":[1,-2.5e3,null]}},true],"id":"\u0041"})";
  for (int i = 0; i < 20'000; ++i) {
    std::string document(good.substr(0, 1 + random.below(good.size())));
    constexpr std::string_view kBytes = "{}[]:,\"\\ 01tfn-.eE\0\xff\n"sv;
    for (std::uint64_t edits = random.below(4); edits > 0; --edits) {
      document[random.below(document.size())] = kBytes[random.below(kBytes.size())];
    }
    const Seen copied = seen_in(Document(document, 0, ' '), "/a/0/id");
    const char filler = "{}[]:,\"\\ "[random.below(9)];
    ASSERT_EQ(seen_in(Document(document, kBodyPadding, filler), "/a/0/id"), copied) << document;
  }
}

}  // namespace
}  // namespace hapax
