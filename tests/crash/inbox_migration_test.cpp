// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/claim_key.hpp"
#include "base/hex.hpp"
#include "crash/caller_db.hpp"
#include "crash/crash_vfs.hpp"
#include "crash/fault_shapes.hpp"
#include "crash/inbox_file.hpp"
#include "store/sqlite/driver.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>

// A file written by the first version of hapax, with claims and messages, is migrated while the
// N-th disk operation fails or the power is cut, for every N. The schema is the old or the new one,
// and its data is complete either way.
namespace hapax::test {
namespace {

// The schema of version 1. Never change it.
constexpr const char* kVersion1 = R"sql(
    CREATE TABLE hapax_schema(version INTEGER NOT NULL);
    INSERT INTO hapax_schema VALUES(1);
    CREATE TABLE hapax_claim(
      key        BLOB NOT NULL PRIMARY KEY,  -- see base/claim_key.hpp
      token      BLOB NOT NULL,              -- whose claim: 16 bytes
      expires_ms INTEGER NOT NULL,           -- store time; over when now >= expires_ms
      result     BLOB                        -- what once() stored, or the digest of a message
    ) WITHOUT ROWID;
    CREATE TABLE hapax_message(
      no          INTEGER PRIMARY KEY,
      id          BLOB NOT NULL,             -- 16 bytes, made before the insert
      destination TEXT NOT NULL,
      key         BLOB,
      order_key   BLOB,
      headers     BLOB NOT NULL,
      payload     BLOB NOT NULL,
      created_ms  INTEGER NOT NULL
    );
    CREATE TABLE hapax_clock(
      one      INTEGER PRIMARY KEY CHECK (one = 1),
      boot_id  TEXT NOT NULL,
      boot_ms  INTEGER NOT NULL,
      store_ms INTEGER NOT NULL,
      last_ms  INTEGER NOT NULL
    );
    INSERT INTO hapax_clock VALUES(1, 'boot-0', 5000, 1699999999000, 1699999999000);
    CREATE TABLE hapax_purge(
      one   INTEGER PRIMARY KEY CHECK (one = 1),
      after BLOB NOT NULL
    );
    INSERT INTO hapax_purge VALUES(1, x'');
    INSERT INTO hapax_message VALUES
      (1, x'01010101010101010101010101010101', 'mail', NULL, x'6b', x'', x'6f6e65', 1699999999000),
      (2, x'02020202020202020202020202020202', 'mail', NULL, x'6b', x'', x'74776f', 1699999999000);
)sql";

constexpr std::int64_t kFarMs = 1'999'999'999'000;

std::string schema_of(sqlite3* db) {
  return text(db,
              "SELECT group_concat(sql, ';') FROM (SELECT sql FROM sqlite_schema"
              " WHERE sql IS NOT NULL ORDER BY name)");
}

class Migration {
 public:
  Migration() {
    const CrashVfs no_faults;
    const Db db = open_db(first());
    EXPECT_EQ(run(db.get(), std::string("PRAGMA journal_mode=WAL;") + kVersion1), SQLITE_OK);
    const std::string key = to_hex(claim_key(ClaimKind::id, "orders", "known"));
    EXPECT_EQ(run(db.get(), "INSERT INTO hapax_claim VALUES(x'" + key +
                                "', x'09090909090909090909090909090909', " +
                                std::to_string(kFarMs) + ", NULL)"),
              SQLITE_OK);
    old_ = schema_of(db.get());
    std::filesystem::copy_file(first(), dir_.file("new.db"));
    const FileInbox migrated(dir_.file("new.db"), {});
    new_ = schema_of(open_db(dir_.file("new.db")).get());
  }

  bool fail(CrashVfs::Fault fault) const {
    const TempDir dir;
    bool reached = false;
    {
      CrashVfs vfs;
      copy_in(dir);
      vfs.fail(fault);
      open_once(dir.file("app.db"));
      vfs.materialize(dir.path() / "dropped", Fate::drop_all, 0);
      vfs.materialize(dir.path() / "torn", Fate::tear, static_cast<std::uint64_t>(fault.nth));
      reached = vfs.reached();
    }
    check(dir.file("app.db"));
    for (const char* place : {"dropped", "torn"}) check((dir.path() / place / "app.db").string());
    return reached;
  }

  bool cut(std::int64_t nth) const {
    const TempDir dir;
    bool reached = false;
    const int fates = 2 + rounds(20);
    {
      CrashVfs vfs;
      copy_in(dir);
      vfs.crash_at(nth);
      open_once(dir.file("app.db"));
      for (int i = 0; i < fates; ++i) {
        const Fate fate = i == 0 ? Fate::keep_all : i == 1 ? Fate::drop_all : Fate::tear;
        vfs.materialize(dir.path() / std::to_string(i), fate,
                        static_cast<std::uint64_t>(nth * 1000 + i));
      }
      reached = vfs.reached();
    }
    for (int i = 0; i < fates; ++i) check((dir.path() / std::to_string(i) / "app.db").string());
    return reached;
  }

 private:
  std::string first() const { return dir_.file("first.db"); }
  void copy_in(const TempDir& dir) const {
    std::filesystem::copy_file(first(), dir.file("app.db"));
    open_db(dir.file("app.db"));  // the VFS knows the file even if the cut precedes any change
  }
  static void open_once(const std::string& path) {
    ManualClock clock;
    const auto driver = store::sqlite::open_driver(path, {}, clock);
  }

  void check(const std::string& path) const {
    SCOPED_TRACE(path);
    const CrashVfs no_faults;
    {
      const Db db = open_db(path);
      const std::int64_t version = number(db.get(), "SELECT version FROM hapax_schema");
      EXPECT_EQ(schema_of(db.get()), version == 1 ? old_ : new_) << "version " << version;
    }
    FileInbox inbox(path, {}, "boot-2");
    EXPECT_EQ(schema_of(open_db(path).get()), new_);
    expect_consistent(path);
    expect_data_complete(inbox.driver());
  }

  static void expect_data_complete(const Driver& driver) {
    const std::string key = claim_key(ClaimKind::id, "orders", "known");
    const DedupItem known{.key = key, .token = make_token(), .ttl = hours(1)};
    const Result<std::vector<Dedup>> claimed = driver.claims->dedup(std::span(&known, 1));
    ASSERT_TRUE(claimed) << claimed.error().to_string();
    EXPECT_TRUE(claimed->at(0).duplicate);
    const EventNo numbers[] = {EventNo(10), EventNo(11), EventNo(12)};
    EXPECT_EQ(driver.queue->move_messages(numbers).value().messages, 2U);
    const DestinationNo mail(driver.catalog->number_of(NameKind::destination, "mail").value());
    for (const char* payload : {"one", "two"}) {
      const LeaseRequest request{.from = mail, .max = 9, .lease = seconds(30), .holder = {}};
      const std::vector<Lease> answer =
          driver.queue->write({.lease = std::span(&request, 1)}).lease.value();
      const std::vector<Leased>& leases = answer.at(0).deliveries;
      ASSERT_EQ(leases.size(), 1U) << "they share an order key";
      EXPECT_EQ(leases[0].event.body, payload);
      const Settlement ack{.which = ref(leases[0]), .fence = leases[0].fence, .disposition = Ack{}};
      EXPECT_EQ(driver.queue->write({.settle = std::span(&ack, 1)}).settle.value().at(0),
                Settled::ok);
    }
  }

  TempDir dir_;
  std::string old_;
  std::string new_;
};

class InboxMigrationFaults : public testing::TestWithParam<Shape> {};

TEST_P(InboxMigrationFaults, AFileOfTheFirstVersionIsOldOrNewAndLosesNothing) {
  const Migration migration;
  for_every_step(steps_of(GetParam()), [&](std::int64_t nth) {
    CrashVfs::Fault fault = GetParam().fault;
    fault.nth = nth;
    return migration.fail(fault);
  });
}

INSTANTIATE_TEST_SUITE_P(Disk, InboxMigrationFaults, testing::ValuesIn(kShapes),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(InboxMigrationPowerCut, LeavesAFileOfTheFirstVersionOldOrNewAndLosesNothing) {
  const Migration migration;
  for_every_step({}, [&](std::int64_t nth) { return migration.cut(nth); });
}

}  // namespace
}  // namespace hapax::test
