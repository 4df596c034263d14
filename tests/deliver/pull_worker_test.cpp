// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "deliver/pull_client.hpp"
#include "support/eventually.hpp"
#include "support/postgres.hpp"

#include <gtest/gtest.h>
#include <spawn.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iostream>
#include <set>

// The two example workers, killed at random moments: in the worker's own database every event has
// exactly one effect.
namespace hapax::test {
namespace {

constexpr int kEvents = 2000;
constexpr int kKills = 200;

enum class Language : std::uint8_t { python, cpp };

class Worker {
 public:
  Worker(Language language, const Serve& serve, const std::string& database) {
    const std::string port = std::to_string(serve.admin_port());
    std::vector<std::string> words{HAPAX_PULL_WORKER, "127.0.0.1", port};
    if (language == Language::python) {
      words = {"python3", HAPAX_EXAMPLES "/pull_worker.py", "http://127.0.0.1:" + port};
    }
    for (const std::string& each : {std::string("work"), database, std::string("1")}) {
      words.push_back(each);
    }
    std::string token = "HAPAX_TOKEN=" + admin_token(serve);
    std::vector<char*> arguments;
    for (std::string& each : words) arguments.push_back(each.data());
    arguments.push_back(nullptr);
    std::vector<char*> variables{token.data()};
    for (char** each = environ; *each != nullptr; ++each) variables.push_back(*each);
    variables.push_back(nullptr);
    const int failed =
        posix_spawnp(&pid_, arguments[0], nullptr, nullptr, arguments.data(), variables.data());
    EXPECT_EQ(failed, 0) << words[0];
  }
  ~Worker() { kill_it(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void kill_it() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_ = -1;
};

// Reads the worker's own database from another process.
class Effects {
 public:
  explicit Effects(const std::string& path) {
    EXPECT_EQ(sqlite3_open(path.c_str(), &db_), SQLITE_OK);
    sqlite3_busy_timeout(db_, 60'000);
  }
  ~Effects() { sqlite3_close(db_); }
  Effects(const Effects&) = delete;
  Effects& operator=(const Effects&) = delete;

  std::multiset<std::string> ids() const {
    std::multiset<std::string> ids;
    sqlite3_stmt* rows = nullptr;
    if (sqlite3_prepare_v2(db_, "SELECT id FROM effects", -1, &rows, nullptr) != SQLITE_OK) {
      return ids;  // no worker has created the table yet
    }
    while (sqlite3_step(rows) == SQLITE_ROW) {
      ids.insert(reinterpret_cast<const char*>(sqlite3_column_text(rows, 0)));
    }
    sqlite3_finalize(rows);
    return ids;
  }

 private:
  sqlite3* db_ = nullptr;
};

void send_events(const Serve& serve, int count) {
  RawClient sender(serve.port());
  for (int i = 0; i < count; ++i) {
    const std::string id = "evt_" + std::to_string(i);
    ASSERT_EQ(serve.post(sender, id, "{\"id\":\"" + id + "\"}").status, 200);
  }
}

// A delivery whose worker was killed three times is dead, as configured; it is replayed here.
void replay_dead(StoreView& view) {
  const Result<store::Stats> stats = view.driver().catalog->stats();
  const auto has_dead = [](const store::DestinationStats& each) { return each.dead > 0; };
  if (!stats || std::none_of(stats->destinations.begin(), stats->destinations.end(), has_dead)) {
    return;
  }
  const Result<store::Replaying> replayed =
      view.driver().queue->replay_step({.filter = {.status = DeliveryState::dead}, .limit = 1000});
  EXPECT_TRUE(replayed) << replayed.error().to_string();
}

std::uint64_t not_completed(StoreView& view) {
  const Result<store::Stats> stats = view.driver().catalog->stats();
  if (!stats) return 1;
  std::uint64_t sum = 0;
  for (const store::DestinationStats& each : stats->destinations) {
    sum += each.pending + each.leased + each.dead + each.superseded + each.cancelled;
  }
  return sum;
}

void kill_workers(Language language, const std::string& config, const std::string& store_url) {
  Serve serve(config);
  const std::string url = store_url.empty() ? "sqlite:" + serve.file("hapax.db") : store_url;
  StoreView view(url);
  const int count = std::max(40, rounds(kEvents));
  const int kills = std::max(4, rounds(kKills));
  send_events(serve, count);
  SeededRandom random(7);
  const Effects effects(serve.file("worker.db"));
  for (int i = 0; i < kills; ++i) {
    Worker first(language, serve, serve.file("worker.db"));
    Worker second(language, serve, serve.file("worker.db"));
    const std::size_t wanted =
        std::min(effects.ids().size() + random.below(12), static_cast<std::size_t>(count));
    const auto enough = [&] {
      if (effects.ids().size() >= wanted) return true;
      replay_dead(view);
      return false;
    };
    ASSERT_TRUE(eventually(enough, std::chrono::minutes(5))) << "kill " << i;
    first.kill_it();
    if (random.below(2) == 0) second.kill_it();
  }
  const Worker last(language, serve, serve.file("worker.db"));
  const auto all_done = [&] {
    replay_dead(view);
    return not_completed(view) == 0;
  };
  ASSERT_TRUE(eventually(all_done, std::chrono::minutes(15)));
  const std::multiset<std::string> done = effects.ids();
  EXPECT_EQ(done.size(), static_cast<std::size_t>(count)) << "one effect per event";
  for (const std::string& each : done) EXPECT_EQ(done.count(each), 1U) << each;
  std::cout << count << " events, workers killed " << kills << " times\n";
}

TEST(PullWorker, KilledPythonWorkersProcessEveryEventOnceOnSqlite) {
  kill_workers(Language::python, demo_config("sqlite:hapax.db"), "");
}

TEST(PullWorker, KilledPythonWorkersProcessEveryEventOnceOnPostgres) {
  const PostgresDatabase database;
  kill_workers(Language::python, demo_config(database.url()), database.url());
}

TEST(PullWorker, KilledCppWorkersProcessEveryEventOnceOnSqlite) {
  kill_workers(Language::cpp, demo_config("sqlite:hapax.db"), "");
}

TEST(PullWorker, KilledCppWorkersProcessEveryEventOnceOnPostgres) {
  const PostgresDatabase database;
  kill_workers(Language::cpp, demo_config(database.url()), database.url());
}

// Two nodes on one database: a lease granted by one node can be settled at the other.
TEST(PullWorker, OneNodeSettlesLeasesOfAnotherOnPostgres) {
  const PostgresDatabase database;
  const std::string config = demo_config(database.url());
  const Serve one(config);
  const Serve other(config);
  const PullClient here(one);
  const PullClient there(other);
  send_events(one, 3);
  const std::vector<LeasedDelivery> leased = here.lease("work", R"(,"max":3)");
  ASSERT_EQ(leased.size(), 3U);
  EXPECT_TRUE(there.lease("work").empty());
  EXPECT_EQ(there.settle(leased[0], "ack"), "ok");
  EXPECT_EQ(there.settle(leased[1], "retry", R"(,"retry_after_s":0)"), "ok");
  EXPECT_EQ(here.settle(leased[1], "retry"), "ok") << "the same result, repeated at another node";
  const std::vector<LeasedDelivery> again = there.lease("work", R"(,"wait_s":60)");
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].delivery, leased[1].delivery);
  EXPECT_EQ(again[0].attempt, 2);
  EXPECT_EQ(here.settle(leased[1], "ack"), "stale");
  EXPECT_EQ(here.settle(again[0], "ack"), "ok");
  EXPECT_EQ(there.settle(leased[2], "drop"), "ok");
}

}  // namespace
}  // namespace hapax::test
