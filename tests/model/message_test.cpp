// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "model/message.hpp"

#include "support/world.hpp"

#include <gtest/gtest.h>

namespace hapax {
namespace {

TEST(MessageId, IsAUuidOfVersionSevenInTimeOrder) {
  test::ManualClock clock;
  test::SeededRandom random(1);
  const std::string first = make_message_id(clock, random).to_string();
  clock.advance(std::chrono::milliseconds(1));
  const std::string second = make_message_id(clock, random).to_string();
  ASSERT_EQ(first.size(), 36U);
  EXPECT_EQ(first[8], '-');
  EXPECT_EQ(first[14], '7');
  EXPECT_NE(std::string("89ab").find(first[19]), std::string::npos);
  EXPECT_LT(first, second);
}

TEST(Message, TheDigestDependsOnEveryPart) {
  const Message base{.destination = "d", .payload = "p", .order_key = "o", .headers = {{"n", "v"}}};
  const auto digest = [](const Message& message) {
    return content_digest(message, encode_headers(message));
  };
  Message other = base;
  EXPECT_EQ(digest(base), digest(other));
  other.payload = "q";
  EXPECT_NE(digest(base), digest(other));
  other = base;
  other.order_key = "";
  EXPECT_NE(digest(base), digest(other));
  other = base;
  other.headers = {{"nv", ""}};
  EXPECT_NE(digest(base), digest(other));
}

}  // namespace
}  // namespace hapax
