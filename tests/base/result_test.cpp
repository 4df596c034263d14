// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include <hapax/error.hpp>

#include "base/try.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace hapax {
namespace {

Result<int> half(int number) {
  if (number % 2 != 0) return Error(Code::invalid_argument, "odd");
  return number / 2;
}

Result<int> quarter(int number) {
  HAPAX_TRY_ASSIGN(first, half(number));
  HAPAX_TRY_ASSIGN(second, half(first));
  return second;
}

Result<void> must_be_even(int number) {
  HAPAX_TRY(half(number));
  return {};
}

TEST(Result, HoldsAValueOrAnError) {
  EXPECT_EQ(half(4).value(), 2);
  EXPECT_EQ(half(3).error().detail(), "odd");
  EXPECT_EQ(half(3).value_or(7), 7);
}

TEST(Result, TheFirstErrorIsPropagated) {
  EXPECT_EQ(quarter(8).value(), 2);
  EXPECT_EQ(quarter(6).error().detail(), "odd");
  EXPECT_TRUE(must_be_even(2));
  EXPECT_FALSE(must_be_even(1));
}

TEST(Result, HoldsMoveOnlyValues) {
  Result<std::unique_ptr<int>> box = std::make_unique<int>(5);
  const std::unique_ptr<int> out = *std::move(box);
  EXPECT_EQ(*out, 5);
}

TEST(Result, ALiteralConvertsToAString) {
  const auto text = []() -> Result<std::string> { return "literal"; };
  EXPECT_EQ(*text(), "literal");
}

TEST(ResultDeathTest, ReadingAnErrorAsAValueAbortsWithTheReason) {
  EXPECT_DEATH(static_cast<void>(half(3).value()), "invalid-argument: odd");
  EXPECT_DEATH(static_cast<void>(half(4).error()), "holds a value");
}

}  // namespace
}  // namespace hapax
