// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "deliver/listeners.hpp"

#include "gateway/targets.hpp"
#include "store/memory/driver.hpp"
#include "support/world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hapax::deliver {
namespace {

using std::chrono::hours;
using testing::ElementsAre;
using testing::IsEmpty;

class ListenersTest : public testing::Test {
 protected:
  std::vector<std::string> names() {
    std::vector<std::string> names;
    const std::vector<Listener> all = listeners_.all().value();
    names.reserve(all.size());
    for (const Listener& each : all) names.push_back(each.name);
    return names;
  }

  test::ManualClock clock_;
  test::SeededRandom random_{3};
  std::unique_ptr<store::Driver> driver_ = store::memory::make_driver(100, clock_);
  int changes_ = 0;
  Listeners listeners_{*driver_, clock_, random_, [this] { ++changes_; }};
};

TEST_F(ListenersTest, AreKeptWithTheSourcesThatTheyHear) {
  ASSERT_TRUE(listeners_.add({.name = "b"}));
  ASSERT_TRUE(listeners_.add({.name = "a", .sources = {"x", "y"}}));
  const std::vector<Listener> all = listeners_.all().value();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].name, "a");
  EXPECT_THAT(all[0].sources, ElementsAre("x", "y"));
  EXPECT_TRUE(all[0].hears("y"));
  EXPECT_FALSE(all[0].hears("z"));
  EXPECT_TRUE(all[1].hears("z"));
}

TEST_F(ListenersTest, OnlyAChangeIsTold) {
  ASSERT_TRUE(listeners_.add({.name = "a"}));
  ASSERT_TRUE(listeners_.add({.name = "a"}));
  EXPECT_EQ(changes_, 1);
  ASSERT_TRUE(listeners_.add({.name = "a", .sources = {"x"}}));
  EXPECT_EQ(changes_, 2);
  EXPECT_TRUE(listeners_.remove("a").value());
  EXPECT_FALSE(listeners_.remove("a").value());
  EXPECT_EQ(changes_, 3);
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(ListenersTest, AreDroppedAfterSevenDaysWithoutContact) {
  ASSERT_TRUE(listeners_.add({.name = "gone"}));
  ASSERT_TRUE(listeners_.add({.name = "here"}));
  clock_.advance(hours(7 * 24 - 1));
  ASSERT_TRUE(listeners_.add({.name = "here"}));
  EXPECT_THAT(names(), ElementsAre("gone", "here"));
  clock_.advance(hours(1));
  EXPECT_THAT(names(), ElementsAre("here"));
  ASSERT_TRUE(listeners_.drop_old());
  EXPECT_EQ(driver_->records("listen/").value().size(), 1U);
}

TEST_F(ListenersTest, ThereIsRoomForSoMany) {
  for (std::size_t i = 0; i < kMaxListeners; ++i) {
    ASSERT_TRUE(listeners_.add({.name = "l" + std::to_string(i)}));
  }
  const Result<Listener> more = listeners_.add({.name = "more"});
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code(), Code::store_full);
  EXPECT_TRUE(listeners_.add({.name = "l3"})) << "one of them says that it is still there";
}

TEST(ListenerNameTest, IsWhatAnyShellAndUrlTakes) {
  for (const char* good : {"a", "my-laptop_2.local", "X"}) EXPECT_TRUE(is_listener_name(good));
  for (const std::string& bad : {std::string(), std::string("a b"), std::string("a/b"),
                                 std::string("\xc3\xa9"), std::string(65, 'a')}) {
    EXPECT_FALSE(is_listener_name(bad)) << bad;
  }
}

TEST(TargetsTest, WhatSomebodyLooksAtStaysWhileItIsReplaced) {
  gateway::Targets targets;
  EXPECT_TRUE(targets.now().empty());
  targets.replace({{.to = DestinationNo(1)}}, BootTime{});
  const std::span<const store::Target> before = targets.now();
  for (int i = 0; i < 500; ++i) {
    targets.replace({{.to = DestinationNo(2), .listen = true}}, std::chrono::seconds(i));
  }
  EXPECT_EQ(before.front().to, DestinationNo(1));
  EXPECT_EQ(targets.now().front().to, DestinationNo(2));
}

}  // namespace
}  // namespace hapax::deliver
