// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/claims/claim_index.hpp"

#include "store/sqlite/file/schema.hpp"
#include "support/world.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace hapax::store::sqlite {
namespace {

using std::chrono::seconds;

constexpr std::string_view kDoing = "test";

// Claims by two connections to one file, compared with a plain map. Some transactions are rolled
// back, and ids are removed from the index.
class ManyClaimsTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(migrate(db_.get())); }

  struct Side {
    Handle db;
    ClaimIndex claims;
  };
  Side& open(std::size_t which) {
    sides_[which].reset();
    Handle db = open_file(directory_.file("ids.db"), seconds(5)).value();
    sqlite3* const raw = db.get();
    sides_[which].reset(new Side{std::move(db), ClaimIndex(raw)});
    return *sides_[which];
  }
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

  void claim_some(Side& side) {
    for (std::uint64_t left = below(8); left > 0; --left) {
      const std::string key = "key-" + std::to_string(below(ids_of_all_) * 7919 % 10'007);
      const std::optional<EventClaim> found = side.claims.find(key).value();
      const auto known = known_.find(key);
      ASSERT_EQ(found.has_value(), known != known_.end()) << key;
      if (found) {
        ASSERT_EQ(found->event, known->second);
        if (below(10) != 0) continue;
      }
      known_[key] = EventNo(++number_);
      side.claims.put(key, {EventNo(number_), 1000});
    }
  }
  void remove_one(Side& side) {
    Statement one =
        Statement::prepare(side.db.get(),
                           "SELECT key, event FROM hapax_event_id WHERE key >= ? LIMIT 1")
            .value();
    std::string key;
    EventNo event;
    {
      sqlite::Run row(one);
      if (!row.bind("key-" + std::to_string(below(10'007))).step(kDoing).value()) return;
      key = row.bytes(0);
      event = EventNo(row.number(1));
    }
    Statement remove =
        Statement::prepare(side.db.get(), "DELETE FROM hapax_event_id WHERE key = ?").value();
    ASSERT_TRUE(sqlite::Run(remove).bind(key).change(kDoing));
    // Removing a row that is older than the log's claim has no effect.
    if (const auto known = known_.find(key); known != known_.end() && known->second == event) {
      known_.erase(known);
    }
  }
  void transact(Side& side) {
    const std::map<std::string, EventNo> before = known_;
    ASSERT_TRUE(execute(side.db.get(), "BEGIN IMMEDIATE", kDoing));
    side.claims.start();
    for (std::uint64_t left = below(3); left > 0; --left) remove_one(side);
    claim_some(side);
    const bool finishes = below(8) != 0;
    if (finishes) {
      ASSERT_TRUE(side.claims.finish());
    }
    if (finishes && below(4) != 0) {
      ASSERT_TRUE(execute(side.db.get(), "COMMIT", kDoing));
      side.claims.note_commit();
    } else {
      ASSERT_TRUE(execute(side.db.get(), "ROLLBACK", kDoing));
      known_ = before;
    }
  }

  test::TempDir directory_;
  Handle db_ = open_file(directory_.file("ids.db"), seconds(5)).value();
  std::uint64_t ids_of_all_ = 400;
  std::mt19937_64 random_{20261116};
  std::array<std::unique_ptr<Side>, 2> sides_;
  std::map<std::string, EventNo> known_;
  std::int64_t number_ = 0;
};

TEST_F(ManyClaimsTest, NoClaimIsMissedByTwoAlternatingConnections) {
  const int rounds = test::rounds(200'000);
  open(0);
  open(1);
  std::size_t which = 0;
  for (int round = 0; round < rounds && !HasFailure(); ++round) {
    if (below(6) == 0) which = 1 - which;
    transact(below(500) == 0 ? open(which) : *sides_[which]);
  }
}

TEST_F(ManyClaimsTest, NoClaimIsMissedByAConnectionThatWasIdleDuringMerges) {
  ids_of_all_ = 4000;
  Side& idle = open(0);
  Side& other = open(1);
  for (int round = 0; round < 5; ++round) transact(idle);
  for (int round = 0; round < 1500; ++round) transact(other);
  Statement first = Statement::prepare(db_.get(), "SELECT min(seq) FROM hapax_recent").value();
  sqlite::Run row(first);
  ASSERT_TRUE(row.step(kDoing).value());
  EXPECT_GT(row.number(0), 5) << "or no row was removed";
  for (int round = 0; round < 200 && !HasFailure(); ++round) transact(idle);
}

}  // namespace
}  // namespace hapax::store::sqlite
