// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/claims/claim_index.hpp"

#include "store/sqlite/driver.hpp"
#include "store/sqlite/file/schema.hpp"
#include "support/world.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <map>
#include <random>

namespace hapax::store::sqlite {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

std::string row_of(const std::map<std::string, std::int64_t>& claims) {
  std::string row;
  for (const auto& [key, event] : claims) append_claim(row, {key, {EventNo(event), 1000}});
  return row;
}

std::vector<std::string> taken(ClaimLog& log, std::size_t most) {
  std::vector<std::string> keys;
  while (keys.size() < most) {
    const std::optional<KeyedClaim> next = log.take();
    if (!next) break;
    keys.emplace_back(next->key);
  }
  return keys;
}

using Keys = std::vector<std::string>;

TEST(ClaimLogTest, ClaimsAreMergedInKeyOrderInTheNextPass) {
  ClaimLog log{SipKey{}};
  ASSERT_TRUE(log.read({0, ""}, row_of({{"b", 1}, {"f", 2}})));
  ASSERT_TRUE(log.read({0, ""}, row_of({{"a", 3}, {"c", 4}})));
  EXPECT_EQ(taken(log, 9), Keys()) << "before their pass";
  ASSERT_TRUE(log.read({1, ""}, row_of({{"d", 5}})));
  EXPECT_EQ(taken(log, 3), (Keys{"a", "b", "c"}));
  EXPECT_EQ(log.merged_up_to(), (MergePosition{1, "c"}));
  EXPECT_EQ(log.size(), 5U) << "until a row records the merge";
  ASSERT_TRUE(log.read({1, "c"}, row_of({{"e", 6}})));
  EXPECT_EQ(log.size(), 3U);
  EXPECT_EQ(log.find("c"), std::nullopt);
  EXPECT_EQ(log.find("d")->event, EventNo(5));
  EXPECT_EQ(taken(log, 9), Keys{"f"});
  EXPECT_TRUE(log.is_pass_finished());
}

TEST(ClaimLogTest, RewindRestoresTakenClaims) {
  ClaimLog log{SipKey{}};
  ASSERT_TRUE(log.read({0, ""}, row_of({{"a", 1}, {"b", 2}, {"c", 3}})));
  ASSERT_TRUE(log.read({1, ""}, ""));
  EXPECT_EQ(taken(log, 1), Keys{"a"});
  ASSERT_TRUE(log.read(log.merged_up_to(), ""));
  EXPECT_EQ(taken(log, 9), (Keys{"b", "c"}));
  log.rewind();
  EXPECT_EQ(log.merged_up_to(), (MergePosition{1, "a"}));
  EXPECT_EQ(taken(log, 9), (Keys{"b", "c"}));
}

TEST(ClaimLogTest, TheNewestClaimOfAKeyIsMerged) {
  ClaimLog log{SipKey{}};
  ASSERT_TRUE(log.read({0, ""}, row_of({{"a", 1}, {"b", 2}})));
  ASSERT_TRUE(log.read({0, ""}, row_of({{"a", 3}})));
  ASSERT_TRUE(log.read({1, ""}, row_of({{"b", 4}})));
  EXPECT_EQ(log.find("a")->event, EventNo(3));
  EXPECT_EQ(log.find("b")->event, EventNo(4));
  const std::optional<KeyedClaim> first = log.take();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->claim.event, EventNo(3));
  EXPECT_FALSE(log.take()) << "b now belongs to the next pass";
  ASSERT_TRUE(log.read(log.merged_up_to(), ""));
  EXPECT_EQ(log.find("a"), std::nullopt);
  EXPECT_EQ(log.find("b")->event, EventNo(4));
}

TEST(ClaimLogTest, SeveralPassesAtOnceDropAllEarlierClaims) {
  ClaimLog log{SipKey{}};
  ASSERT_TRUE(log.read({0, ""}, row_of({{"a", 1}})));
  ASSERT_TRUE(log.read({2, "b"}, row_of({{"c", 2}})));
  EXPECT_EQ(log.find("a"), std::nullopt);
  EXPECT_EQ(log.find("c")->event, EventNo(2));
}

TEST(ClaimLogTest, AMalformedRowIsRejected) {
  const std::string good = row_of({{"a", 1}, {"b", 2}});
  for (std::size_t length = 1; length < good.size(); ++length) {
    if (length == good.size() / 2) continue;  // the first claim alone
    EXPECT_FALSE(ClaimLog(SipKey{}).read({0, ""}, good.substr(0, length))) << length;
  }
  EXPECT_FALSE(ClaimLog(SipKey{}).read({0, ""}, row_of({{"b", 1}}) + row_of({{"a", 1}})));
  EXPECT_FALSE(ClaimLog(SipKey{}).read({0, ""}, row_of({{"a", 1}}) + row_of({{"a", 1}})));
}

TEST(ClaimLogTest, ClaimsUpToThePositionAreMerged) {
  EXPECT_FALSE(is_merged(3, "k", {3, "z"}));
  EXPECT_FALSE(is_merged(3, "k", {4, ""}));
  EXPECT_FALSE(is_merged(3, "k", {4, "j"}));
  EXPECT_TRUE(is_merged(3, "k", {4, "k"}));
  EXPECT_TRUE(is_merged(3, "k", {5, ""}));
}

// ---------------------------------------------------------------------------------------------

// Several stores on one file, with ids repeated in time, too late, and within one batch.
class ClaimIndexTest : public testing::Test {
 protected:
  static constexpr std::size_t kStores = 3;

  void SetUp() override {
    for (auto& each : stores_) each = open();
  }
  Driver open() { return open_driver(file_, {}, clock_).value(); }

  struct Wanted {
    Admission::Kind kind;
    EventNo event;
  };
  Wanted wanted(const std::string& id, EventNo no) {
    const auto now = clock_.wall();
    auto [place, is_new] = claims_.try_emplace(id, Known{no, now + remember_});
    if (is_new) return {Admission::Kind::fresh, no};
    if (place->second.until > now) return {Admission::Kind::duplicate, place->second.event};
    place->second = {no, now + remember_};
    return {Admission::Kind::fresh, no};
  }

  void admit(const Driver& store, const std::vector<std::string>& ids) {
    std::vector<Arrival> arrivals;
    std::vector<Wanted> answers;
    for (const std::string& id : ids) {
      arrivals.push_back({.no = EventNo(++number_),
                          .source = SourceNo(1),
                          .key = id,
                          .id = id,
                          .body = "body",
                          .remember = remember_});
      answers.push_back(wanted(id, EventNo(number_)));
    }
    const Admit request{.arrivals = arrivals};
    const Answers given = store.queue->write({.admit = std::span(&request, 1)});
    ASSERT_TRUE(given.admit.front()) << given.admit.front().error().to_string();
    for (std::size_t at = 0; at < ids.size(); ++at) {
      const Admission& each = (*given.admit.front())[at];
      EXPECT_EQ(each.kind, answers[at].kind) << ids[at];
      EXPECT_EQ(each.event, answers[at].event) << ids[at];
    }
  }

  void sweep(const Driver& store) {
    const Periods periods{SourceNo(1), remember_, remember_};
    for (int steps = 0; steps < 1000; ++steps) {
      if (store.queue->sweep({std::span(&periods, 1), 50}).value().done) return;
    }
    ADD_FAILURE() << "the sweep never finishes";
  }

  void execute_sql(const char* sql) {
    const Handle db = open_file(file_, seconds(5)).value();
    ASSERT_TRUE(execute(db.get(), sql, "prepare the test")) << sql;
  }
  void fill_index(const std::vector<std::string>& ids) {
    const Handle db = open_file(file_, seconds(5)).value();
    ASSERT_TRUE(execute(db.get(), "BEGIN", "prepare the test"));
    Statement insert =
        Statement::prepare(db.get(), "INSERT INTO hapax_event_id VALUES(?, 1, 1)").value();
    for (const std::string& id : ids) {
      const std::string key = event_claim_key(SourceNo(1), "", id);
      ASSERT_TRUE(sqlite::Run(insert).bind(key).change("prepare the test"));
    }
    ASSERT_TRUE(execute(db.get(), "COMMIT", "prepare the test"));
  }
  std::int64_t count(const char* sql) {
    const Handle db = open_file(file_, seconds(5)).value();
    Statement query = Statement::prepare(db.get(), sql).value();
    sqlite::Run row(query);
    EXPECT_TRUE(row.step("count").value());
    return row.number(0);
  }

  struct Known {
    EventNo event;
    WallTime until;
  };
  test::TempDir directory_;
  test::ManualClock clock_;
  std::string file_ = directory_.file("claims.db");
  std::array<Driver, kStores> stores_;
  std::map<std::string, Known> claims_;
  std::int64_t number_ = 0;
  std::chrono::milliseconds remember_ = minutes(10);
};

TEST_F(ClaimIndexTest, ManyStoresOnOneFileAgreeOnTheFirst) {
  std::mt19937_64 random(20261116);
  const auto below = [&](std::uint64_t limit) { return random() % limit; };
  const int rounds = test::rounds(20'000);
  for (int round = 0; round < rounds && !HasFailure(); ++round) {
    Driver& store = stores_[below(kStores)];
    if (below(100) == 0) store = open();
    if (below(50) == 0) clock_.advance(minutes(static_cast<int>(below(8))));
    if (below(200) == 0) sweep(store);
    std::vector<std::string> ids(1 + below(below(20) == 0 ? 600 : 8));
    for (std::string& id : ids) id = "id-" + std::to_string(below(4'000) * 7919 % 10'007);
    admit(store, ids);
  }
  EXPECT_GT(count("SELECT max(turn) FROM hapax_recent"), 3) << "or nothing was merged";
  EXPECT_GT(count("SELECT min(seq) FROM hapax_recent"), 1) << "or no row was removed";
}

TEST_F(ClaimIndexTest, AClaimIsFoundInTheLogAndInTheIndex) {
  std::vector<std::string> ids;
  for (int each = 0; each < 500; ++each) {
    ids.push_back("id-" + std::to_string(each * 7919 % 10'007));
    admit(stores_.front(), {ids.back()});
  }
  EXPECT_GT(count("SELECT count(*) FROM hapax_event_id"), 0);
  std::vector<WantedIdentity> wanted;
  wanted.reserve(ids.size() + 1);
  for (const std::string& id : ids) wanted.push_back({SourceNo(1), "", id});
  wanted.push_back({SourceNo(1), "", "another"});
  const auto found = stores_.back().catalog->find(wanted).value();
  ASSERT_EQ(found.size(), 501U);
  for (std::size_t at = 0; at < ids.size(); ++at) EXPECT_EQ(found[at], claims_.at(ids[at]).event);
  EXPECT_EQ(found.back(), std::nullopt);
}

TEST_F(ClaimIndexTest, TheLogStaysShort) {
  for (int batch = 0; batch < 400; ++batch) {
    std::vector<std::string> ids(20);
    for (std::string& id : ids) id = "id-" + std::to_string(++number_ * 7919 % 1'000'003);
    admit(stores_.front(), ids);
  }
  // The passes of 4, 8, ... 2048 claims are complete: the remaining rows belong to the last two.
  EXPECT_LT(count("SELECT count(*) FROM hapax_recent"), 400);
  EXPECT_GT(count("SELECT count(*) FROM hapax_event_id"), 2'000);
}

TEST_F(ClaimIndexTest, ASweepRemovesExpiredClaimsOfTheLog) {
  admit(stores_.front(), {"a", "b", "c"});
  clock_.advance(minutes(30));
  sweep(stores_.front());
  EXPECT_EQ(count("SELECT count(*) FROM hapax_event_id"), 0);
  admit(stores_.back(), {"a", "a", "d"});
}

// The claim expires at once, but a delivery created by the same batch and not yet written keeps it.
TEST_F(ClaimIndexTest, WorkInTheSameBatchKeepsAnExpiredId) {
  const Target target{DestinationNo(1)};
  std::vector<Arrival> arrivals;
  for (const int number : {1, 2}) {
    arrivals.push_back({.no = EventNo(number),
                        .source = SourceNo(1),
                        .key = "a",
                        .id = "a",
                        .body = "body",
                        .remember = {},
                        .targets = std::span(&target, 1)});
  }
  const Admit request{.arrivals = arrivals};
  const Answers given = stores_.front().queue->write({.admit = std::span(&request, 1)});
  ASSERT_TRUE(given.admit.front()) << given.admit.front().error().to_string();
  EXPECT_EQ(given.admit.front()->at(0).kind, Admission::Kind::fresh);
  EXPECT_EQ(given.admit.front()->at(1).kind, Admission::Kind::duplicate);
  EXPECT_EQ(given.admit.front()->at(1).event, EventNo(1));
}

TEST_F(ClaimIndexTest, ADamagedLogIsReported) {
  for (const char* damage : {"UPDATE hapax_recent SET claims = x'20' WHERE seq = 1",
                             "DELETE FROM hapax_recent WHERE seq = 2",
                             "UPDATE hapax_recent SET turn = turn + 1 WHERE seq = 2",
                             "UPDATE hapax_recent SET claims = x'' WHERE seq = 3"}) {
    file_ = directory_.file(std::to_string(++number_));
    claims_.clear();
    const Driver first = open();
    for (const char* id : {"a", "b", "c"}) admit(first, {id});
    execute_sql(damage);
    const Driver store = open();
    const Arrival arrival{.no = EventNo(770), .source = SourceNo(1), .key = "d", .id = "d"};
    const Admit request{.arrivals = std::span(&arrival, 1)};
    const Answers given = store.queue->write({.admit = std::span(&request, 1)});
    ASSERT_FALSE(given.admit.front()) << damage;
    EXPECT_EQ(given.admit.front().error().code(), Code::store_corrupt) << damage;
  }
}

// The file is restored while stores are open, one of which does not read it until the log is as
// long as before.
TEST_F(ClaimIndexTest, ARestoredFileIsReadAgain) {
  admit(stores_[0], {"a", "b"});
  execute_sql("CREATE TABLE kept AS SELECT * FROM hapax_recent");
  admit(stores_[0], {"c"});
  admit(stores_[1], {"d"});
  execute_sql("DELETE FROM hapax_recent; INSERT INTO hapax_recent SELECT * FROM kept");
  claims_.erase("c");
  claims_.erase("d");
  admit(stores_[0], {"e"});
  admit(stores_[0], {"f"});
  admit(stores_[0], {"g"});
  admit(stores_[1], {"e", "c", "a", "d"});
}

// Counts the statement journals that SQLite opens as temporary files.
struct CountingVfs : sqlite3_vfs {
  CountingVfs() : sqlite3_vfs(*sqlite3_vfs_find(nullptr)), real(sqlite3_vfs_find(nullptr)) {
    zName = "counting";
    xOpen = [](sqlite3_vfs* self, const char* path, sqlite3_file* file, int flags, int* got) {
      auto* const counting = static_cast<CountingVfs*>(self);
      if ((flags & SQLITE_OPEN_SUBJOURNAL) != 0) ++counting->opened;
      return counting->real->xOpen(counting->real, path, file, flags, got);
    };
    sqlite3_vfs_register(this, 1);
  }
  ~CountingVfs() {
    sqlite3_vfs_unregister(this);
    sqlite3_vfs_register(real, 1);
  }
  CountingVfs(const CountingVfs&) = delete;
  CountingVfs& operator=(const CountingVfs&) = delete;

  sqlite3_vfs* real;
  int opened = 0;
};

// A server may be able to write only to its store's directory, not to a temporary one.
TEST_F(ClaimIndexTest, NothingIsWrittenOutsideTheStore) {
  std::mt19937_64 random(20261116);
  const auto some = [&](std::size_t count) {
    std::vector<std::string> ids(count);
    for (std::string& id : ids) {
      while (id.size() < 120) id += std::to_string(random());
    }
    return ids;
  };
  // Enough keys that each new one falls on a different page.
  fill_index(some(30'000));
  CountingVfs vfs;
  const Driver store = open();
  for (int batch = 0; batch < 60; ++batch) admit(store, some(64));
  EXPECT_EQ(vfs.opened, 0);
}

// ---------------------------------------------------------------------------------------------
// The index verifies claims when they are merged. These tests insert conflicting rows.

class ClaimFaultsTest : public ClaimIndexTest {
 protected:
  void plant(const std::string& id, std::int64_t event, WallTime until) {
    const Handle db = open_file(file_, seconds(5)).value();
    Statement insert =
        Statement::prepare(db.get(), "INSERT INTO hapax_event_id VALUES(?, ?, ?)").value();
    const std::string key = event_claim_key(SourceNo(1), "", id);
    const std::int64_t until_ms = until.time_since_epoch().count() / 1000;
    ASSERT_TRUE(sqlite::Run(insert).bind(key).bind(event).bind(until_ms).change("plant"));
  }
  // Admits events until all earlier claims are merged into the index.
  void merge_all(std::size_t at_once) {
    const std::int64_t pass = count("SELECT max(turn) FROM hapax_recent");
    while (count("SELECT max(turn) FROM hapax_recent") < pass + 2) {
      std::vector<std::string> ids(at_once);
      for (std::string& id : ids) id = "filler-" + std::to_string(++fillers_);
      admit(store(), ids);
    }
  }
  const Driver& store() { return stores_.front(); }
  std::optional<EventNo> holder_of(const std::string& id) {
    const WantedIdentity wanted{SourceNo(1), "", id};
    return store().catalog->find(std::span(&wanted, 1)).value().front();
  }

  int fillers_ = 0;
};

TEST_F(ClaimFaultsTest, AMergeThatMeetsALiveClaimOfAnotherEventIsCounted) {
  for (const std::size_t at_once : {std::size_t{1}, std::size_t{64}}) {
    const std::string id = "twice-" + std::to_string(at_once);
    const std::uint64_t before = store().catalog->claim_faults().value().doubled;
    admit(store(), {id});
    const EventNo newer(number_);
    plant(id, 770, clock_.wall() + minutes(1));
    merge_all(at_once);
    const ClaimFaults faults = store().catalog->claim_faults().value();
    EXPECT_EQ(faults.doubled, before + 1);
    EXPECT_EQ(faults.event, newer);
    EXPECT_EQ(faults.other, EventNo(770));
    EXPECT_EQ(holder_of(id), newer) << "the newer claim stays: it was acknowledged";
  }
}

TEST_F(ClaimFaultsTest, AMergeThatMeetsAnExpiredClaimOrItsOwnIsNoFault) {
  admit(store(), {"expired", "own"});
  plant("expired", 770, clock_.wall());
  plant("own", number_, clock_.wall() + minutes(1));
  merge_all(1);
  EXPECT_EQ(store().catalog->claim_faults().value().doubled, 0U);
  EXPECT_EQ(holder_of("own"), EventNo(number_ - fillers_));
}

TEST_F(ClaimFaultsTest, ATakeoverOfAnExpiredClaimIsNoFault) {
  admit(store(), {"a"});
  merge_all(64);
  clock_.advance(remember_);
  admit(store(), {"a"});
  merge_all(64);
  EXPECT_EQ(store().catalog->claim_faults().value().doubled, 0U);
}

// An older version would not detect that the index is incomplete.
TEST_F(ClaimIndexTest, ARunningOlderVersionFindsNoIndex) {
  const Handle db = open_file(file_, seconds(5)).value();
  EXPECT_FALSE(execute(db.get(), "SELECT event FROM hapax_event_claim", "look"));
}

}  // namespace
}  // namespace hapax::store::sqlite
