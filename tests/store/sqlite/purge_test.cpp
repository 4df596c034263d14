// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "support/world.hpp"

#include <hapax/store.hpp>

#include <gtest/gtest.h>

#include <string>

namespace hapax {
namespace {

class PurgeTest : public testing::Test {
 protected:
  void claim(int first, int count, std::chrono::milliseconds ttl) {
    for (int i = first; i < first + count; ++i) {
      const std::string id = std::to_string(10'000 + i);
      ASSERT_FALSE(store_.dedup({.scope = "s", .id = id, .ttl = ttl})->duplicate);
    }
  }

  test::TempDir directory_;
  test::ManualClock clock_;
  Store store_ = open("sqlite:" + directory_.file("p.db"), {.clock = &clock_}).value();
};

TEST_F(PurgeTest, RemovesExpiredClaimsAndNothingElse) {
  claim(0, 30, std::chrono::seconds(1));
  claim(30, 20, std::chrono::hours(1));
  EXPECT_EQ(store_.purge(1000)->removed, 0U);
  clock_.advance(std::chrono::seconds(1));
  const Result<Purged> purged = store_.purge(1000);
  EXPECT_EQ(purged->removed, 30U);
  EXPECT_TRUE(purged->done);
  EXPECT_TRUE(store_.dedup({.scope = "s", .id = "10030"})->duplicate);
}

TEST_F(PurgeTest, ResumesWhereItStoppedAndRestartsAtTheEnd) {
  claim(0, 25, std::chrono::seconds(1));
  clock_.advance(std::chrono::seconds(1));
  for (const std::size_t expected : {10U, 10U}) {
    const Result<Purged> step = store_.purge(10);
    EXPECT_EQ(step->removed, expected);
    EXPECT_FALSE(step->done);
  }
  const Result<Purged> last = store_.purge(10);
  EXPECT_EQ(last->removed, 5U);
  EXPECT_TRUE(last->done);
  claim(0, 3, std::chrono::seconds(1));
  clock_.advance(std::chrono::seconds(1));
  EXPECT_EQ(store_.purge(10)->removed, 3U);
}

// A step full of live ids must not hide the expired ids behind it.
TEST_F(PurgeTest, LiveClaimsDoNotHideExpiredOnesBehindThem) {
  claim(0, 20, std::chrono::hours(1));
  claim(20, 5, std::chrono::seconds(1));
  clock_.advance(std::chrono::seconds(1));
  std::size_t removed = 0;
  for (int i = 0; i < 4; ++i) removed += store_.purge(10)->removed;
  EXPECT_EQ(removed, 5U);
}

TEST_F(PurgeTest, TheCursorSurvivesARestart) {
  claim(0, 15, std::chrono::seconds(1));
  clock_.advance(std::chrono::seconds(1));
  EXPECT_EQ(store_.purge(10)->removed, 10U);
  store_ = open("memory:").value();
  store_ = open("sqlite:" + directory_.file("p.db"), {.clock = &clock_}).value();
  const Result<Purged> rest = store_.purge(10);
  EXPECT_EQ(rest->removed, 5U);
  EXPECT_TRUE(rest->done);
}

}  // namespace
}  // namespace hapax
