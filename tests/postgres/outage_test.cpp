// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "postgres/server.hpp"
#include "postgres/witness.hpp"

#include <gtest/gtest.h>

#include <array>
#include <condition_variable>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

// Backends are killed and the server is restarted while threads claim through one store, which is
// never reopened.
namespace hapax::test {
namespace {

using namespace std::chrono_literals;

enum class ClaimResult : std::uint8_t { fresh, duplicate, did_not_happen, unknown };
constexpr std::size_t kClaimResults = 4;

struct Request {
  std::string id;
  Token token = make_token();
  ClaimResult result = ClaimResult::unknown;

  DedupRequest dedup_request() const { return {.scope = kScope, .id = id, .token = token}; }
};

ClaimResult claim_result_of(const Result<Dedup>& answer) {
  if (answer) return answer->duplicate ? ClaimResult::duplicate : ClaimResult::fresh;
  return answer.error().outcome() == Outcome::unknown ? ClaimResult::unknown
                                                      : ClaimResult::did_not_happen;
}

// Threads that claim ids of their own and shared ids until stopped.
class Load {
 public:
  explicit Load(Store& store) : store_(store) {
    for (std::size_t i = 0; i < kThreads; ++i) threads_.emplace_back([this, i] { run(i); });
  }
  ~Load() { stop(); }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  // Waits until every thread has got an answer, other than an error, to a request sent after the
  // call.
  bool wait_for_answers(int count = 1) {
    return wait_for_more(answered_, count + 1);  // the first may have been in flight
  }
  // Waits until every thread has got an error.
  bool wait_for_errors() { return wait_for_more(failed_, 1); }

  // Stops the threads and returns all requests with their answers.
  std::vector<Request> stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    for (std::thread& each : threads_) {
      if (each.joinable()) each.join();
    }
    return std::exchange(requests_, {});
  }

 private:
  static constexpr std::size_t kThreads = 4;
  using Counts = std::array<int, kThreads>;

  // After five minutes the store counts as not recovered.
  bool wait_for_more(const Counts& counts, int more) {
    std::unique_lock lock(mutex_);
    const Counts before = counts;
    return progress_.wait_for(lock, 5min, [&] {
      for (std::size_t i = 0; i < kThreads; ++i) {
        if (counts[i] < before[i] + more) return false;
      }
      return true;
    });
  }

  void run(std::size_t thread) {
    const std::string own = "own-" + std::to_string(thread) + "-";
    bool stopping = false;
    for (int i = 0; !stopping; ++i) {
      std::array<Request, 2> pair{Request{.id = own + std::to_string(i)},
                                  Request{.id = "shared-" + std::to_string(i)}};
      if (i % 2 == 0) {
        claim_together(pair);
      } else {
        for (Request& each : pair)
          each.result = claim_result_of(store_.dedup(each.dedup_request()));
      }
      stopping = note(thread, pair);
    }
  }

  void claim_together(std::array<Request, 2>& pair) {
    const std::array<DedupRequest, 2> requests{pair[0].dedup_request(), pair[1].dedup_request()};
    const Result<std::vector<Dedup>> answers = store_.dedup(requests);
    for (std::size_t n = 0; n < pair.size(); ++n) {
      pair[n].result = claim_result_of(answers ? Result<Dedup>((*answers)[n]) : answers.error());
    }
  }

  // Returns whether to stop.
  bool note(std::size_t thread, const std::array<Request, 2>& pair) {
    const std::lock_guard lock(mutex_);
    requests_.insert(requests_.end(), pair.begin(), pair.end());
    const bool is_answered =
        pair[1].result == ClaimResult::fresh || pair[1].result == ClaimResult::duplicate;
    ++(is_answered ? answered_ : failed_)[thread];
    progress_.notify_all();
    return stopping_;
  }

  Store& store_;
  std::mutex mutex_;
  std::condition_variable progress_;
  Counts answered_{};
  Counts failed_{};
  std::vector<Request> requests_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

// Compares the threads' answers with the contents of the table.
class Truth {
 public:
  Truth(Store& store, const Witness& witness) : store_(store) {
    // A backend whose client is gone may still be working.
    witness.wait_until(
        "NOT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database()"
        " AND application_name = 'hapax' AND state <> 'idle')");
    holders_ = witness.holders();
  }

  void expect_agrees(const std::vector<Request>& requests) {
    for (const Request& each : requests) {
      ++counts_[static_cast<std::size_t>(each.result)];
      expect_agrees(each);
      if (testing::Test::HasFailure()) return;
    }
    for (const auto& [id, winners] : winners_) EXPECT_EQ(winners, 1) << id;
    record("fresh", ClaimResult::fresh);
    record("duplicate", ClaimResult::duplicate);
    record("unknown", ClaimResult::unknown);
    record("did_not_happen", ClaimResult::did_not_happen);
  }

 private:
  void expect_agrees(const Request& request) {
    const auto claim = holders_.find(Witness::key_of(request.id));
    const bool is_held = claim != holders_.end();
    const bool is_ours = is_held && claim->second == hex(request.token);
    switch (request.result) {
      case ClaimResult::fresh:
        EXPECT_TRUE(is_ours) << request.id << " was acknowledged and is lost";
        ++winners_[request.id];
        break;
      case ClaimResult::duplicate:
        EXPECT_TRUE(is_held && !is_ours) << request.id << " is not claimed by another caller";
        break;
      case ClaimResult::did_not_happen:
        EXPECT_FALSE(is_ours) << request.id << " did happen";
        break;
      case ClaimResult::unknown:
        resolve(request, is_held, is_ours);
    }
  }

  void resolve(const Request& request, bool is_held, bool is_ours) {
    const Result<Dedup> answer = retry_until_known(store_, request.dedup_request());
    ASSERT_TRUE(answer) << answer.error().to_string();
    const bool is_fresh = !answer->duplicate;
    EXPECT_EQ(is_fresh, is_ours || !is_held) << request.id;
    if (is_fresh) ++winners_[request.id];
    if (is_fresh && !is_held) {
      holders_[Witness::key_of(request.id)] = hex(request.token);
    }
  }

  void record(const char* name, ClaimResult result) const {
    const int count = counts_[static_cast<std::size_t>(result)];
    std::cout << "  " << name << ": " << count << "\n";
    testing::Test::RecordProperty(name, count);
  }

  Store& store_;
  std::map<std::string, std::string> holders_;
  std::map<std::string, int> winners_;
  std::array<int, kClaimResults> counts_{};
};

TEST(Outage, TerminatedBackendsUnderLoadLoseAndDuplicateNothing) {
  const PostgresDatabase database;
  const Witness witness(database.connect());
  Store store = open(database.url()).value();
  Load load(store);
  const int count = rounds(500);
  for (int i = 0; i < count; ++i) {
    witness.text(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
        " WHERE datname = current_database() AND application_name = 'hapax'");
    ASSERT_TRUE(load.wait_for_answers()) << "after " << i + 1;
  }
  const std::vector<Request> requests = load.stop();
  Truth(store, witness).expect_agrees(requests);
}

class RestartTest : public testing::TestWithParam<PostgresServer::Stop> {
 protected:
  // A short time-out, so that some calls end while the server is down.
  PostgresServer server_;
  Store store_ = open_with_short_timeout(server_.url(), 1s);
};

TEST_P(RestartTest, AServerRestartedUnderLoadLosesAndDuplicatesNothing) {
  Load load(store_);
  const int count = rounds(30);
  for (int i = 0; i < count; ++i) {
    ASSERT_TRUE(load.wait_for_answers(25)) << "before " << i + 1;
    server_.stop(GetParam());
    const bool for_longer = i % 3 == 1;  // longer than a call's time-out
    if (for_longer) {
      EXPECT_TRUE(load.wait_for_errors());
    }
    server_.start();
  }
  ASSERT_TRUE(load.wait_for_answers()) << "after the last";
  const std::vector<Request> requests = load.stop();
  Truth(store_, Witness(server_.connect())).expect_agrees(requests);
}

std::string name_of(const testing::TestParamInfo<PostgresServer::Stop>& how) {
  constexpr std::array kNames{"StoppedFast", "StoppedAtOnce", "Killed"};
  return kNames[static_cast<std::size_t>(how.param)];
}

INSTANTIATE_TEST_SUITE_P(Ways, RestartTest,
                         testing::Values(PostgresServer::Stop::fast,
                                         PostgresServer::Stop::immediate,
                                         PostgresServer::Stop::kill),
                         name_of);

TEST(Outage, AServerThatIsDownAtOpenIsReportedAtOnce) {
  PostgresServer server;
  server.stop(PostgresServer::Stop::fast);
  const Result<Store> store = open(server.url());
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code(), Code::store_unavailable) << store.error().to_string();
  EXPECT_EQ(store.error().outcome(), Outcome::did_not_happen) << store.error().to_string();
}

TEST(Outage, AServerThatStaysDownIsAnErrorUntilItIsBack) {
  PostgresServer server;
  Store store = open_with_short_timeout(server.url(), 200ms);
  server.stop(PostgresServer::Stop::fast);
  std::array<Request, 2> requests{Request{.id = "a"}, Request{.id = "b"}};
  for (Request& each : requests) {
    const Result<Dedup> answer = store.dedup(each.dedup_request());
    ASSERT_FALSE(answer);
    EXPECT_TRUE(answer.error().retryable()) << answer.error().to_string();
    each.result = claim_result_of(answer);
  }
  // Each waits for at least a third of its time-out, so that afterwards the server has been down
  // for longer than a restart takes. From then on calls fail at once.
  for (int i = 0; i < 30; ++i) EXPECT_FALSE(store.purge());
  server.start();
  const Witness witness(server.connect());
  EXPECT_EQ(witness.claims(), 0);
  // After a long outage the store retries the connection at intervals, not on every call.
  EXPECT_TRUE(eventually([&] { return store.purge().has_value(); }));
  for (const Request& each : requests) {
    EXPECT_FALSE(retry_until_known(store, each.dedup_request()).value().duplicate) << each.id;
    EXPECT_EQ(witness.holder_of(each.id), hex(each.token));
  }
}

}  // namespace
}  // namespace hapax::test
