// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include <hapax/error.hpp>

#include <gtest/gtest.h>

#include <set>

namespace hapax {
namespace {

TEST(Error, EveryCodeHasItsOwnStableName) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kCodeCount; ++i) names.insert(info(static_cast<Code>(i)).name);
  EXPECT_EQ(names.size(), kCodeCount);
  EXPECT_EQ(info(Code::store_busy).name, "store-busy");
}

TEST(Error, OnlyUnknownOutcomeCodesDefaultToUnknown) {
  for (std::size_t i = 0; i < kCodeCount; ++i) {
    const Code code = static_cast<Code>(i);
    EXPECT_EQ(info(code).outcome == Outcome::unknown, code == Code::outcome_unknown);
  }
}

TEST(Error, RecordsTheLineThatMadeIt) {
  const Error error(Code::work_failed, "no stock");
  EXPECT_EQ(error.line(), __LINE__ - 1);
  EXPECT_NE(std::string(error.file()).find("error_test.cpp"), std::string::npos);
}

TEST(Error, TheTextIncludesAnOutcomeTheCodeDoesNotImply) {
  EXPECT_EQ(Error(Code::work_failed, "no stock").to_string(), "work-failed: no stock");
  EXPECT_EQ(Error(Code::work_failed, Outcome::unknown, "no stock").to_string(),
            "work-failed: no stock (outcome: unknown)");
}

}  // namespace
}  // namespace hapax
