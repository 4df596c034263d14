// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// A separate program, because it counts every allocation of its process.
#include "base/json.hpp"

#include <hapax/verify.hpp>

#include "support/allocations.hpp"

#include <gtest/gtest.h>

namespace hapax {
namespace {

using test::allocations;

std::string padded(std::string document) {
  return document.append(kBodyPadding, '\0');
}

TEST(JsonAllocation, TheCounterCounts) {
  const int before = allocations;
  const std::string text(1000, 'x');
  EXPECT_GT(allocations, before) << text.size();
}

TEST(JsonAllocation, AWarmReaderReadsInPlaceWithoutAllocating) {
  const std::string documents[] = {
      padded(R"({"id":"evt_1","type":"x","data":{"object":{"id":"\u0041"}}})"),
      padded("{\"id\":\"evt_2\",\"more\":\"" + std::string(3000, 'y') + "\"}"),
      padded("[1,2,3]"),
  };
  JsonReader reader;
  for (const std::string& each : documents)
    reader.open({each.data(), each.size() - kBodyPadding}, kBodyPadding);
  const int before = allocations;
  bool opened = true;
  for (int i = 0; i < 100; ++i) {
    for (const std::string& each : documents) {
      opened = opened && reader.open({each.data(), each.size() - kBodyPadding}, kBodyPadding);
      opened = opened && reader.at("/id").text.size() < 15;
    }
  }
  EXPECT_EQ(allocations, before);
  EXPECT_TRUE(opened);
}

TEST(JsonAllocation, AWarmReaderCopiesIntoTheSameBuffer) {
  const std::string document = "{\"id\":\"evt_2\",\"more\":\"" + std::string(3000, 'y') + "\"}";
  JsonReader reader;
  ASSERT_TRUE(reader.open(document, 0));
  const int before = allocations;
  bool opened = true;
  for (int i = 0; i < 100; ++i) opened = opened && reader.open(document, 0);
  EXPECT_EQ(allocations, before);
  EXPECT_TRUE(opened);
}

}  // namespace
}  // namespace hapax
