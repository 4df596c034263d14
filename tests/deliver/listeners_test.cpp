// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "deliver/listeners.hpp"

#include "deliver/by_hand.hpp"
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
  store::Driver driver_ = store::memory::make_driver(100, clock_);
  int changes_ = 0;
  Listeners listeners_{*driver_.catalog, *driver_.node, clock_, random_, [this] { ++changes_; }};
};

TEST_F(ListenersTest, AreStoredWithTheirSources) {
  ASSERT_TRUE(listeners_.add({.name = "b"}));
  ASSERT_TRUE(listeners_.add({.name = "a", .sources = {"x", "y"}}));
  const std::vector<Listener> all = listeners_.all().value();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].name, "a");
  EXPECT_THAT(all[0].sources, ElementsAre("x", "y"));
  EXPECT_TRUE(all[0].subscribes_to("y"));
  EXPECT_FALSE(all[0].subscribes_to("z"));
  EXPECT_TRUE(all[1].subscribes_to("z"));
}

TEST_F(ListenersTest, TheFormatOfTheirRecordsStays) {
  const auto stored = [&] { return driver_.node->record("listen/a").value().value().content; };
  const std::string seen = std::to_string(clock_.wall().time_since_epoch().count());
  ASSERT_TRUE(listeners_.add({.name = "a", .sources = {"x", "y"}}));
  EXPECT_EQ(stored(), R"({"sources":["x","y"],"seen":)" + seen + "}");
  ASSERT_TRUE(listeners_.remove("a").value());
  EXPECT_EQ(stored(), R"({"sources":["x","y"],"seen":)" + seen + R"(,"ended":true})");
}

TEST_F(ListenersTest, OnlyChangesAreReported) {
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
  EXPECT_THAT(names(), ElementsAre("here"));
  EXPECT_EQ(driver_.node->records("listen/").value().size(), 2U) << "its name stays recorded";
  EXPECT_EQ(changes_, 2);
  ASSERT_TRUE(listeners_.add({.name = "gone"}));
  EXPECT_EQ(changes_, 3);
  EXPECT_THAT(names(), ElementsAre("gone", "here"));
}

TEST_F(ListenersTest, FormerNamesAreLimited) {
  for (std::size_t i = 0; i < kMaxFormerListeners + 5; ++i) {
    clock_.advance(std::chrono::seconds(1));
    const std::string name = "l" + std::to_string(i);
    ASSERT_TRUE(listeners_.add({.name = name}));
    ASSERT_TRUE(listeners_.remove(name).value());
  }
  ASSERT_TRUE(listeners_.drop_old());
  EXPECT_EQ(driver_.node->records("listen/").value().size(), kMaxFormerListeners);
  EXPECT_FALSE(driver_.node->record("listen/l0").value()) << "the oldest is dropped first";
}

// Remaining deliveries of a former configured destination must not go to a developer's machine.
class TakenNameTest : public ListenersTest {
 protected:
  void admit(bool listen) { test::admit_one(driver_, ++last_, SourceNo(1), {to_, listen}); }
  void settle_next(const Disposition& disposition) { test::settle_due(driver_, to_, disposition); }
  bool is_taken() { return listeners_.is_taken("orders").value(); }

  const DestinationNo to_{
      driver_.catalog->number_of(store::NameKind::destination, "orders").value()};
  std::int64_t last_ = 0;
};

TEST_F(TakenNameTest, TheNameIsTakenWhileDeliveriesArePendingOrDead) {
  EXPECT_FALSE(listeners_.is_taken("unheard-of").value());
  EXPECT_FALSE(is_taken()) << "a known destination without deliveries";
  admit(false);
  EXPECT_TRUE(is_taken());
  settle_next(Dead{});
  EXPECT_TRUE(is_taken()) << "a dead delivery can be replayed";
  ASSERT_TRUE(driver_.queue->replay({.event = EventNo(1)}));
  settle_next(Ack{});
  EXPECT_FALSE(is_taken());
}

TEST_F(TakenNameTest, AReturningListenerReceivesItsPendingDeliveries) {
  ASSERT_TRUE(listeners_.add({.name = "orders"}));
  admit(true);
  EXPECT_FALSE(is_taken());
  EXPECT_TRUE(listeners_.remove("orders").value());
  EXPECT_FALSE(is_taken()) << "the pending delivery belongs to the former listener";
  ASSERT_TRUE(listeners_.drop_old());
  clock_.advance(2 * kDropListener);
  ASSERT_TRUE(listeners_.drop_old());
  EXPECT_FALSE(is_taken());
}

TEST_F(TakenNameTest, TheNameIsTakenAfterTheConfigurationUsedIt) {
  ASSERT_TRUE(listeners_.add({.name = "orders"}));
  ASSERT_TRUE(listeners_.remove("orders").value());
  ASSERT_TRUE(listeners_.drop_old([](std::string_view name) { return name == "orders"; }));
  admit(false);
  EXPECT_TRUE(is_taken());
}

// During an upgrade, nodes of two versions share the store.
class NewerListenersTest : public ListenersTest {
 protected:
  void write(const std::string& name, const std::string& content) {
    ASSERT_TRUE(driver_.node->put_record({"listen/" + name, ++version_, content}, 0).value());
  }
  std::string seen_now() { return std::to_string(clock_.wall().time_since_epoch().count()); }
  bool is_kept(const std::string& name) {
    return driver_.node->record("listen/" + name).value().has_value();
  }
  std::int64_t version_ = 0;
};

TEST_F(NewerListenersTest, ARegistrationThatThisVersionCannotReadIsKept) {
  write("new", R"({"sources":{"all":true},"seen":)" + seen_now() + "}");
  write("newest", "v3 all");
  const auto unreadable = listeners_.drop_old();
  ASSERT_TRUE(unreadable);
  EXPECT_THAT(*unreadable, ElementsAre("new", "newest"));
  EXPECT_THAT(names(), IsEmpty());
  EXPECT_TRUE(listeners_.add({.name = "mine"})) << "makes room first";
  EXPECT_TRUE(is_kept("new"));
  EXPECT_TRUE(is_kept("newest"));
  EXPECT_FALSE(listeners_.is_taken("newest").value());
}

TEST_F(NewerListenersTest, ItIsDeletedIfItsNameIsConfigured) {
  write("orders", "v3 all");
  const auto configured = [](std::string_view name) { return name == "orders"; };
  EXPECT_THAT(listeners_.drop_old(configured).value(), IsEmpty());
  EXPECT_FALSE(is_kept("orders"));
}

TEST_F(NewerListenersTest, ItCanBeEnded) {
  write("newest", "v3 all");
  EXPECT_TRUE(listeners_.remove("newest").value());
  EXPECT_EQ(changes_, 1);
  EXPECT_FALSE(listeners_.remove("newest").value());
  EXPECT_THAT(listeners_.drop_old().value(), IsEmpty());
  EXPECT_TRUE(is_kept("newest")) << "its name stays recorded";
  EXPECT_TRUE(listeners_.add({.name = "newest"}));
  EXPECT_THAT(names(), ElementsAre("newest"));
}

TEST_F(ListenersTest, TheirNumberIsLimited) {
  for (std::size_t i = 0; i < kMaxListeners; ++i) {
    ASSERT_TRUE(listeners_.add({.name = "l" + std::to_string(i)}));
  }
  const Result<Listener> more = listeners_.add({.name = "more"});
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code(), Code::store_full);
  EXPECT_TRUE(listeners_.add({.name = "l3"})) << "a registered listener can renew";
}

TEST(ListenerNameTest, IsSafeInShellsAndUrls) {
  for (const char* good : {"a", "my-laptop_2.local", "X"}) EXPECT_TRUE(is_listener_name(good));
  for (const std::string& bad : {std::string(), std::string("a b"), std::string("a/b"),
                                 std::string("\xc3\xa9"), std::string(65, 'a')}) {
    EXPECT_FALSE(is_listener_name(bad)) << bad;
  }
}

}  // namespace
}  // namespace hapax::deliver
