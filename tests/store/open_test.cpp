// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include <hapax/store.hpp>

#include "support/world.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <utility>

namespace hapax {
namespace {

TEST(Open, AnUnknownUrlNamesARemedy) {
  for (const char* url : {"", "sqlite", "sqlite:", "sqlite::memory:", "memory", "memory:x",
                          "mysql://host/db", "redis://host", "/tmp/x.db"}) {
    const Result<Store> store = open(url);
    ASSERT_FALSE(store) << url;
    EXPECT_EQ(store.error().code(), Code::misconfigured) << url;
    EXPECT_NE(store.error().detail().find("write sqlite:PATH"), std::string::npos) << url;
  }
  EXPECT_FALSE(open(std::string_view("sqlite:a\0b", 10)));
}

TEST(Open, ACapabilityTheStoreLacksIsRefusedAtOnce) {
  const Result<Store> store = open("memory:", {.needs = {Capability::dedup, Capability::keys}});
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code(), Code::misconfigured);
  EXPECT_NE(store.error().detail().find("has no keys"), std::string::npos);
}

TEST(Open, AStoreReportsItsCapabilities) {
  const Result<Store> store = open("memory:");
  EXPECT_TRUE(store->capabilities().has(Capability::dedup));
  EXPECT_TRUE(store->capabilities().has(Capability::inbox));
  EXPECT_FALSE(store->capabilities().has(Capability::keys));
}

TEST(Open, InvalidOptionsAreRefused) {
  using std::chrono::milliseconds;
  EXPECT_EQ(open("memory:", {.timeout = milliseconds(0)}).error().code(), Code::misconfigured);
  EXPECT_EQ(open("memory:", {.timeout = milliseconds::max()}).error().code(), Code::misconfigured);
  EXPECT_EQ(open("memory:", {.busy_timeout = 30 * days}).error().code(), Code::misconfigured);
  EXPECT_EQ(open("memory:", {.connections = 0}).error().code(), Code::misconfigured);
}

TEST(Dedup, TooManyRequestsInOneCallAreRefused) {
  Store store = open("memory:").value();
  const std::vector<DedupRequest> many(kMaxBatch + 1, {.scope = "s", .id = "a"});
  EXPECT_EQ(store.dedup(many).error().code(), Code::invalid_argument);
  EXPECT_FALSE(store.dedup({.scope = "s", .id = "a"})->duplicate);
}

// A clock that throws once, as a caller's own clock may.
class FailingClock final : public Clock {
 public:
  WallTime wall() const override { return clock_.wall(); }
  BootTime since_boot() const override {
    if (std::exchange(fails, false)) throw std::runtime_error("no time");
    return clock_.since_boot();
  }
  const std::string& boot_id() const override { return clock_.boot_id(); }
  mutable bool fails = false;

 private:
  test::ManualClock clock_;
};

TEST(Dedup, AnExceptionInsideIsAnUnknownOutcomeAndTheStoreStillWorks) {
  const test::TempDir directory;
  FailingClock clock;
  Store store = open("sqlite:" + directory.file("s.db"), {.clock = &clock}).value();
  ASSERT_TRUE(store.dedup({.scope = "s", .id = "before"}));
  clock.fails = true;
  const Result<Dedup> failed = store.dedup({.scope = "s", .id = "a"});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().outcome(), Outcome::unknown);
  EXPECT_TRUE(store.dedup({.scope = "s", .id = "b"}));
}

TEST(Migrate, OfAStoreWithoutASchemaIsRefused) {
  EXPECT_EQ(migrate("memory:").error().code(), Code::misconfigured);
}

TEST(MemoryStore, AFullStoreRefusesAndEvictsNoLiveId) {
  test::ManualClock clock;
  Store store = open("memory:", {.memory_max_ids = 2, .clock = &clock}).value();
  const auto request = [](const char* id) {
    return DedupRequest{.scope = "s", .id = id, .ttl = std::chrono::seconds(10)};
  };
  EXPECT_FALSE(store.dedup(request("a"))->duplicate);
  EXPECT_FALSE(store.dedup(request("b"))->duplicate);
  EXPECT_TRUE(store.dedup(request("a"))->duplicate) << "a known id needs no room";
  const Result<Dedup> third = store.dedup(request("c"));
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().code(), Code::store_full);
  EXPECT_EQ(third.error().outcome(), Outcome::did_not_happen);
  EXPECT_TRUE(store.dedup(request("b"))->duplicate);
  clock.advance(std::chrono::seconds(10));
  EXPECT_FALSE(store.dedup(request("c"))->duplicate) << "expired ids free their room";
}

TEST(MemoryStore, ACallThatDoesNotFitClaimsNothing) {
  Store store = open("memory:", {.memory_max_ids = 2}).value();
  const std::vector<DedupRequest> three{
      {.scope = "s", .id = "a"}, {.scope = "s", .id = "b"}, {.scope = "s", .id = "c"}};
  EXPECT_EQ(store.dedup(three).error().code(), Code::store_full);
  EXPECT_FALSE(store.dedup({.scope = "s", .id = "a"})->duplicate);
}

TEST(MemoryStore, ARepeatedIdInOneCallNeedsRoomOnce) {
  Store store = open("memory:", {.memory_max_ids = 1}).value();
  EXPECT_TRUE(store.dedup(std::vector<DedupRequest>(2, {.scope = "s", .id = "a"})));
}

TEST(MemoryStore, PurgeRemovesExpiredClaims) {
  test::ManualClock clock;
  Store store = open("memory:", {.clock = &clock}).value();
  for (int i = 0; i < 10; ++i) {
    const std::string id = std::to_string(i);
    ASSERT_TRUE(store.dedup({.scope = "s", .id = id, .ttl = std::chrono::seconds(i + 1)}));
  }
  clock.advance(std::chrono::seconds(5));
  EXPECT_EQ(store.purge(3)->removed, 3U);
  const Result<Purged> rest = store.purge(100);
  EXPECT_EQ(rest->removed, 2U);
  EXPECT_TRUE(rest->done);
  EXPECT_EQ(store.purge(0).error().code(), Code::invalid_argument);
}

}  // namespace
}  // namespace hapax
