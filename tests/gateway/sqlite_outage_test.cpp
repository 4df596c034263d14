// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "gateway/senders.hpp"
#include "support/durations.hpp"
#include "support/sqlite.hpp"

#include <gtest/gtest.h>

#include <condition_variable>
#include <fstream>
#include <iostream>

// A full disk, a file locked by another program, and overload of the store: 503 meanwhile,
// automatic recovery, and no loss of acknowledged events.
namespace hapax::test {

namespace {

constexpr int kSenders = 8;

std::string url_of(const Serve& serve) {
  return "sqlite:" + serve.file("hapax.db");
}

// A write transaction of another program on the file.
class ForeignWriter {
 public:
  explicit ForeignWriter(const std::string& path) {
    EXPECT_EQ(sqlite3_open(path.c_str(), &db_), SQLITE_OK);
    sqlite3_busy_timeout(db_, 60'000);
    EXPECT_EQ(sqlite3_exec(db_, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  }
  ~ForeignWriter() { sqlite3_close(db_); }
  ForeignWriter(const ForeignWriter&) = delete;
  ForeignWriter& operator=(const ForeignWriter&) = delete;
  void end() { EXPECT_EQ(sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr), SQLITE_OK); }

 private:
  sqlite3* db_ = nullptr;
};

// A connection of another process (the test itself) to the file.
class ForeignReader {
 public:
  enum class Kind : std::uint8_t { none, idle, reads };

  ForeignReader(const std::string& path, Kind kind) {
    if (kind == Kind::none) return;
    EXPECT_EQ(sqlite3_open(path.c_str(), &db_), SQLITE_OK);
    const char* const sql = kind == Kind::idle ? "SELECT count(*) FROM hapax_event"
                                               : "BEGIN; SELECT count(*) FROM hapax_event";
    EXPECT_EQ(sqlite3_exec(db_, sql, nullptr, nullptr, nullptr), SQLITE_OK);
  }
  ~ForeignReader() { sqlite3_close(db_); }
  ForeignReader(const ForeignReader&) = delete;
  ForeignReader& operator=(const ForeignReader&) = delete;

 private:
  sqlite3* db_ = nullptr;
};

}  // namespace

class SqliteFullDiskTest : public testing::TestWithParam<ForeignReader::Kind> {};

// crash/fail_every_step_test.cpp covers an application's own handle in the same process.
TEST_P(SqliteFullDiskTest, IsReportedAndRecoversWhenSpaceIsFree) {
  const TempDir place;  // the path must be known before the server starts
  Serve serve(demo_config("sqlite:" + place.file("hapax.db")),
              {"LD_PRELOAD=" HAPAX_FULL_DISK_LIBRARY, "HAPAX_FULL_DISK=" + place.path().string(),
               "ASAN_OPTIONS=verify_asan_link_order=0"});
  const ForeignReader beside(place.file("hapax.db"), GetParam());
  Senders senders(serve, kSenders);
  Durations back;
  for (int i = 0; i < std::max(3, rounds(30)); ++i) {
    ASSERT_TRUE(senders.wait_for_acknowledgements(20)) << "before " << i + 1 << serve.log();
    std::ofstream(place.file("full")) << "";
    ASSERT_TRUE(senders.wait_for_refusals()) << "no 503 on a full disk";
    std::filesystem::remove(place.file("full"));
    back.start();
    ASSERT_TRUE(senders.wait_for_acknowledgements(1)) << "not recovered";
    back.stop();
  }
  back.print("space free until each of " + std::to_string(kSenders) + " senders got 200");
  senders.stop();
  EXPECT_EQ(serve.ask("/readyz").status, 200);
  StoreView view("sqlite:" + place.file("hapax.db"));
  senders.expect_all_in(view);
  EXPECT_EQ(serve.stop(), 0);
}

std::string name_of(const testing::TestParamInfo<ForeignReader::Kind>& info) {
  if (info.param == ForeignReader::Kind::none) return "Alone";
  return info.param == ForeignReader::Kind::idle ? "BesideAnIdleConnection" : "BesideAReader";
}

INSTANTIATE_TEST_SUITE_P(Company, SqliteFullDiskTest,
                         testing::Values(ForeignReader::Kind::none, ForeignReader::Kind::idle,
                                         ForeignReader::Kind::reads),
                         name_of);

// No acknowledged event may be stored in a file that can no longer be opened.
TEST(SqliteOutageTest, AReplacedFileStoresNoEventsUntilARestart) {
  Serve serve(demo_config("sqlite:hapax.db"));
  RawClient client(serve.port());
  ASSERT_EQ(serve.post(client, "before", "{}").status, 200);
  std::filesystem::copy_file(serve.file("hapax.db"), serve.file("backup.db"));
  std::filesystem::rename(serve.file("backup.db"), serve.file("hapax.db"));
  EXPECT_EQ(serve.post(client, "meanwhile", "{}").problem(), "store-unavailable");
  EXPECT_EQ(serve.ask("/readyz").status, 503);
  EXPECT_EQ(serve.stop(), 0);  // removes the log, which belongs to the old file
  serve.start();
  RawClient again(serve.port());
  EXPECT_EQ(serve.post(again, "meanwhile", "{}").status, 200);
  const std::map<std::string, std::string> stored = StoreView(url_of(serve)).bodies();
  EXPECT_TRUE(stored.contains("meanwhile"));
}

TEST(SqliteOutageTest, ALongForeignTransactionIsReported) {
  // Uses the default timeouts of the store, which are under test.
  Serve serve(demo_config("sqlite:hapax.db", kGenerousServer, ""));
  Senders senders(serve, kSenders);
  ASSERT_TRUE(senders.wait_for_acknowledgements(20));
  ForeignWriter foreign(serve.file("hapax.db"));
  for (int i = 0; i < std::max(2, rounds(5)); ++i) {
    ASSERT_TRUE(senders.wait_for_refusals()) << "no 503 after busy_timeout";
  }
  foreign.end();
  ASSERT_TRUE(senders.wait_for_acknowledgements(1)) << "not recovered";
  senders.stop();
  StoreView view(url_of(serve));
  senders.expect_all_in(view);
}

// While the store is blocked, requests wait up to the limit of the queue; others get 503 at once.
TEST(SqliteOutageTest, BackpressureIsImmediateAndMemoryBounded) {
  Serve serve(demo_config("sqlite:hapax.db"));
  const std::size_t before = serve.resident();
  ForeignWriter foreign(serve.file("hapax.db"));
  // 64 MiB wait in the queue, in addition to at most 64 MiB that the store is already writing.
  constexpr int kClients = 160;
  const std::string body = "{\"note\":\"" + std::string(1'000'000, 'n') + "\"}";
  std::mutex mutex;
  std::condition_variable answered;
  std::map<std::string, int> answers;  // count by status or problem
  std::size_t largest = 0;
  std::vector<std::thread> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.emplace_back([&, i] {
      RawClient client(serve.port());
      const HttpAnswer answer = serve.post(client, "big-" + std::to_string(i), body);
      const std::lock_guard lock(mutex);
      ++answers[answer.status == 200 ? "200" : answer.problem()];
      largest = std::max(largest, serve.resident());
      answered.notify_all();
    });
  }
  {
    std::unique_lock lock(mutex);
    const auto refused = [&] { return answers["queue-full"] > 0; };
    EXPECT_TRUE(answered.wait_for(lock, std::chrono::minutes(5), refused));
    EXPECT_EQ(answers["200"], 0) << "another program holds the file";
  }
  foreign.end();
  for (std::thread& each : clients) each.join();
  for (const auto& [name, count] : answers) std::cout << "  " << name << ": " << count << "\n";
  std::cout << "  memory: " << before / 1'000'000 << " MB before, " << largest / 1'000'000
            << " MB at most\n";
  EXPECT_EQ(answers["queue-full"] + answers["200"], kClients);
  EXPECT_EQ(StoreView(url_of(serve)).bodies().size(), static_cast<std::size_t>(answers["200"]));
  RawClient client(serve.port());
  EXPECT_EQ(serve.post(client, "after", body).status, 200);
}

}  // namespace hapax::test
