// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "cli/captured_request.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hapax::cli {
namespace {

CapturedRequest parsed(std::string_view text) {
  Result<CapturedRequest> captured = parse_captured_request(text);
  EXPECT_TRUE(captured) << text;
  return captured ? *captured : CapturedRequest{};
}

TEST(CapturedRequest, AcceptsBothLineEnds) {
  for (const std::string_view text :
       {"POST /in/x?a=b HTTP/1.1\r\nHost: h\r\nX-A:  1 \r\n\r\n{\"a\":\r\n1}",
        "POST /in/x?a=b HTTP/1.1\nHost: h\nX-A:\t1\t\n\n{\"a\":\r\n1}"}) {
    const CapturedRequest captured = parsed(text);
    EXPECT_EQ(captured.method, "POST");
    EXPECT_EQ(captured.target, "/in/x?a=b");
    EXPECT_EQ(header_of(captured, "host"), "h");
    EXPECT_EQ(header_of(captured, "x-a"), "1");
    EXPECT_EQ(captured.body, "{\"a\":\r\n1}") << "line ends of the body are kept";
    EXPECT_EQ(captured.note, "");
  }
}

TEST(CapturedRequest, ContentLengthMismatchesAreNoted) {
  const CapturedRequest longer = parsed("POST / HTTP/1.1\nContent-Length: 2\n\n{}\n");
  EXPECT_EQ(longer.body, "{}");
  EXPECT_THAT(longer.note, testing::HasSubstr("2 bytes, and 3 follow"));
  const CapturedRequest shorter = parsed("POST / HTTP/1.1\nContent-Length: 9\n\n{}");
  EXPECT_EQ(shorter.body, "{}");
  EXPECT_THAT(shorter.note, testing::HasSubstr("9 bytes, and 2 follow"));
  EXPECT_EQ(parsed("POST / HTTP/1.1\nContent-Length: x\n\n{}").body, "{}");
  EXPECT_EQ(parsed("POST / HTTP/1.1\nContent-Length: -1\n\n{}").body, "{}");
  EXPECT_EQ(parsed("POST / HTTP/1.1\nContent-Length: 99999999999999999999999\n\n{}").body, "{}");
  EXPECT_EQ(parsed("POST / HTTP/1.1\nContent-Length: 1\nContent-Length: 2\n\n{}").body, "{}");
}

TEST(CapturedRequest, AChunkedBodyIsNoted) {
  const CapturedRequest captured =
      parsed("POST / HTTP/1.1\nTransfer-Encoding: chunked\n\n2\r\n{}\r\n0\r\n\r\n");
  EXPECT_THAT(captured.note, testing::HasSubstr("chunked"));
}

TEST(CapturedRequest, MayHaveNoBodyOrHeaders) {
  EXPECT_EQ(parsed("GET / HTTP/1.1").body, "");
  EXPECT_EQ(parsed("GET / HTTP/1.1\n\n").body, "");
  EXPECT_EQ(parsed("GET / HTTP/1.1\nA: b").headers.size(), 1U);
  EXPECT_EQ(parsed("GET / HTTP/1.1\nA:\n\n").headers[0].value, "");
}

TEST(CapturedRequest, KeepsRepeatedHeaders) {
  const CapturedRequest captured = parsed("GET / HTTP/1.1\nA: 1\na: 2\n\n");
  EXPECT_EQ(captured.headers.size(), 2U);
  EXPECT_EQ(header_of(captured, "A"), "");
}

TEST(CapturedRequest, OtherTextIsRejected) {
  for (const std::string_view text :
       {"", "\n", "{}", "POST /", "POST HTTP/1.1", "POST / HTTP", "HTTP/1.1 200 OK\n\n",
        " / HTTP/1.1\n\n", "POST / HTTP/1.1\nno colon\n\n", "POST / HTTP/1.1\n: x\n\n"}) {
    const Result<CapturedRequest> captured = parse_captured_request(text);
    ASSERT_FALSE(captured) << text;
    EXPECT_EQ(captured.error().code(), Code::invalid_argument);
  }
}

}  // namespace
}  // namespace hapax::cli
