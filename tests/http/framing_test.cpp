// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "http/framing.hpp"

#include <gtest/gtest.h>

// Request framing; requests with ambiguous framing are rejected.
namespace hapax::http {

namespace {

struct Parsed {
  std::optional<Refusal> refused;
  Head head;
};

Parsed parse(const std::string& bytes, const HeadLimits& limits = {}) {
  Parsed parsed;
  parsed.refused = parse_head(bytes, limits, parsed.head);
  return parsed;
}

// A request with these header lines.
std::string with(const std::string& lines, const std::string& start = "POST /in/x HTTP/1.1") {
  return start + "\r\n" + lines + "\r\n";
}

TEST(FramingTest, AHeadIsParsedVerbatim) {
  const std::string bytes =
      with("Host: a\r\nX-Odd:  b\tc \r\nx-odd: \xc3\xa4\r\nEmpty:\r\nContent-Length: 12\r\n",
           "POST /in/x?a=1&b HTTP/1.1");
  const Parsed parsed = parse(bytes);
  ASSERT_FALSE(parsed.refused);
  EXPECT_EQ(parsed.head.method, "POST");
  EXPECT_EQ(parsed.head.path(), "/in/x");
  EXPECT_EQ(parsed.head.query(), "a=1&b");
  ASSERT_EQ(parsed.head.headers.size(), 5U);
  EXPECT_EQ(parsed.head.headers[1].name, "X-Odd");
  EXPECT_EQ(parsed.head.headers[1].value, "b\tc");
  EXPECT_EQ(parsed.head.headers[2].value, "\xc3\xa4");
  EXPECT_EQ(parsed.head.headers[3].value, "");
  EXPECT_EQ(parsed.head.length, 12U);
  EXPECT_TRUE(parsed.head.keep_alive);
  EXPECT_FALSE(parsed.head.chunked);
}

TEST(FramingTest, AmbiguousFramingIsRejected) {
  const std::string host = "Host: a\r\n";
  for (const std::string& bytes : {
           with(host + "Content-Length: 1\r\nContent-Length: 1\r\n"),
           with(host + "Content-Length: 1\r\nContent-Length: 2\r\n"),
           with(host + "Content-Length: 1, 1\r\n"),
           with(host + "Content-Length: +1\r\n"),
           with(host + "Content-Length: -1\r\n"),
           with(host + "Content-Length: 0x10\r\n"),
           with(host + "Content-Length: 1 2\r\n"),
           with(host + "Content-Length:\r\n"),
           with(host + "Content-Length: 99999999999999999999999\r\n"),
           with(host + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n"),
           with(host + "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n"),
           with(host + "Transfer-Encoding: gzip\r\n"),
           with(host + "Transfer-Encoding: chunked, gzip\r\n"),
           with(host + "Transfer-Encoding: gzip, chunked\r\n"),
           with(host + "Transfer-Encoding: identity\r\n"),
           with(host + "Transfer-Encoding: xchunked\r\n"),
           with(host + "Transfer-Encoding: \"chunked\"\r\n"),
           with(host + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
           with(host + "Transfer-Encoding: chunked\r\n", "POST /in/x HTTP/1.0"),
           with(host + "Transfer-Encoding : chunked\r\n"),
           with(host + " Folded: first\r\n"),
           with(host + "A: b\r\n c\r\n"),
           with(host + "A:\r\n b\r\n"),
           with(host + "A: b\r\n\tc\r\n"),
           with(host + "A: b\r\n \r\nC: d\r\n"),
           with(host + std::string("A: b\0c\r\n", 8)),
           with(host + std::string("A\0: b\r\n", 7)),
           with(host + "A: b\rC: d\r\n"),
           with(host + "A: b\nC: d\r\n"),
           with(host + "A b\r\n"),
           with(host + ": b\r\n"),
           with(""),
           with("Host: a\r\nHost: a\r\n"),
           with(host, "POST http://a/in/x HTTP/1.1"),
           with(host, "POST in/x HTTP/1.1"),
           with(host, "POST * HTTP/1.1"),
           with(host, "POST  /in/x HTTP/1.1"),
           with(host, "POST /in/x  HTTP/1.1"),
           with(host, "POST /in/x HTTP/1.2"),
           with(host, "POST /in/x HTTP/2.0"),
           with(host, "POST /in/x http/1.1"),
           with(host, "POST /in/\x01 HTTP/1.1"),
           with(host, "POST /in/x"),
           with(host, "P\x01ST /in/x HTTP/1.1"),
           with(host, ""),
       }) {
    const Parsed parsed = parse(bytes);
    ASSERT_TRUE(parsed.refused) << bytes;
    EXPECT_EQ(*parsed.refused, Refusal::framing) << bytes;
  }
}

TEST(FramingTest, OversizedHeadsAreReportedAsTooLarge) {
  const HeadLimits limits{.bytes = 1000, .target = 100, .headers = 5};
  std::string many = "Host: a\r\n";
  for (int i = 0; i < 5; ++i) many += "A: b\r\n";
  for (const std::string& bytes :
       {with("Host: a\r\nA: " + std::string(1000, 'a') + "\r\n"), with(many),
        with("Host: a\r\n", "POST /" + std::string(100, 'a') + " HTTP/1.1")}) {
    const Parsed parsed = parse(bytes, limits);
    ASSERT_TRUE(parsed.refused) << bytes;
    EXPECT_EQ(*parsed.refused, Refusal::headers_too_large);
  }
}

TEST(FramingTest, AConnectionIsKeptAliveOnlyIfBothPeersSupportIt) {
  EXPECT_TRUE(parse(with("Host: a\r\n")).head.keep_alive);
  EXPECT_FALSE(parse(with("Host: a\r\nConnection: close\r\n")).head.keep_alive);
  EXPECT_FALSE(parse(with("Host: a\r\n", "POST /in/x HTTP/1.0")).head.keep_alive);
}

// Tries all ways to split the bytes in two.
TEST(FramingTest, ChunksAreAssembledHoweverTheyAreSplit) {
  const std::string bytes =
      "3\r\nabc\r\n01;ext=\"x\"\r\nd\r\nA\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\nNEXT";
  for (std::size_t cut = 0; cut <= bytes.size() - 4; ++cut) {
    ChunkReader reader(100);
    std::string body;
    std::string pending = bytes.substr(0, cut);
    std::size_t taken = 0;
    ChunkReader::State state = reader.read(pending, taken, body);
    pending.erase(0, taken);
    if (state == ChunkReader::State::needs_more) {
      pending += bytes.substr(cut);
      state = reader.read(pending, taken, body);
      pending.erase(0, taken);
      EXPECT_EQ(pending, "NEXT") << cut;
    }
    EXPECT_EQ(state, ChunkReader::State::done) << cut;
    EXPECT_EQ(body, "abcd0123456789") << cut;
  }
}

TEST(FramingTest, TheLastChunkMayArriveByteByByte) {
  const std::string bytes = "0\r\n\r\n";
  ChunkReader reader(100);
  std::string body;
  for (std::size_t size = 1; size <= bytes.size(); ++size) {
    std::size_t taken = 0;
    const ChunkReader::State state = reader.read(bytes.substr(0, size), taken, body);
    EXPECT_EQ(state == ChunkReader::State::done, size == bytes.size()) << size;
  }
}

TEST(FramingTest, AnInvalidLastChunkIsRejectedHoweverItIsSplit) {
  const std::string bytes =
      "8\r\n01234567"
      "0\n0x";
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    ChunkReader reader(100);
    std::string body;
    std::size_t taken = 0;
    ChunkReader::State state = reader.read(bytes.substr(0, cut), taken, body);
    if (state == ChunkReader::State::needs_more) {
      state = reader.read(bytes.substr(taken), taken, body);
    }
    EXPECT_EQ(state, ChunkReader::State::bad) << cut;
  }
}

ChunkReader::State state_of(const std::string& bytes, std::size_t limit = 100) {
  ChunkReader reader(limit);
  std::string body;
  std::size_t taken = 0;
  return reader.read(bytes, taken, body);
}

TEST(FramingTest, InvalidChunksAreRejected) {
  for (const std::string& bytes :
       {std::string("x\r\n"), std::string("-1\r\n"), std::string("0x1\r\na\r\n"),
        std::string("1 \r\nab\r\n0\r\n\r\n"), std::string("1\r\nab\r\n"), std::string("1\nab\n"),
        std::string("FFFFFFFFFFFFFFFFFF\r\n"), std::string("\r\na\r\n"), std::string(";a\r\n"),
        std::string("1;\x01\r\na\r\n"), std::string("0\r\nBad Trailer\r\n\r\n")}) {
    const ChunkReader::State state = state_of(bytes + "\r\n\r\n");
    EXPECT_TRUE(state == ChunkReader::State::bad || state == ChunkReader::State::too_large)
        << bytes;
  }
}

TEST(FramingTest, ChunkedBodiesAreLimited) {
  EXPECT_EQ(state_of("5\r\nabcde\r\n0\r\n\r\n", 5), ChunkReader::State::done);
  EXPECT_EQ(state_of("5\r\nabcde\r\n1\r\nf\r\n0\r\n\r\n", 5), ChunkReader::State::too_large);
  EXPECT_EQ(state_of("FFFFFFFF\r\n", 5), ChunkReader::State::too_large);
}

}  // namespace

}  // namespace hapax::http
