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

// Backends are killed and the server is stopped and started while threads claim through one store,
// which is never opened again.
namespace hapax::test {
namespace {

using namespace std::chrono_literals;

enum class Told : std::uint8_t { fresh, duplicate, did_not_happen, unknown };
constexpr std::size_t kToldCount = 4;

struct Request {
  std::string id;
  Token token = make_token();
  Told told = Told::unknown;

  DedupRequest dedup_request() const { return {.scope = kScope, .id = id, .token = token}; }
};

Told told_by(const Result<Dedup>& answer) {
  if (answer) return answer->duplicate ? Told::duplicate : Told::fresh;
  return answer.error().outcome() == Outcome::unknown ? Told::unknown : Told::did_not_happen;
}

// Threads that claim until they are stopped: ids of their own, and ids that all of them want.
class Load {
 public:
  explicit Load(Store& store) : store_(store) {
    for (std::size_t i = 0; i < kThreads; ++i) threads_.emplace_back([this, i] { run(i); });
  }
  ~Load() { stop(); }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  // Until every thread has got an answer, other than an error, to something it asked after now.
  bool wait_for_answers(int count = 1) {
    return wait_for_more(answered_, count + 1);  // the first may have been on its way
  }
  // Until every thread has got an error.
  bool wait_for_errors() { return wait_for_more(failed_, 1); }

  // What was asked and answered.
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

  // Five minutes are for ever: the store has not recovered then.
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
        for (Request& each : pair) each.told = told_by(store_.dedup(each.dedup_request()));
      }
      stopping = note(thread, pair);
    }
  }

  void claim_together(std::array<Request, 2>& pair) {
    const std::array<DedupRequest, 2> wishes{pair[0].dedup_request(), pair[1].dedup_request()};
    const Result<std::vector<Dedup>> answers = store_.dedup(wishes);
    for (std::size_t n = 0; n < pair.size(); ++n) {
      pair[n].told = told_by(answers ? Result<Dedup>((*answers)[n]) : answers.error());
    }
  }

  // Whether to stop.
  bool note(std::size_t thread, const std::array<Request, 2>& pair) {
    const std::lock_guard lock(mutex_);
    requests_.insert(requests_.end(), pair.begin(), pair.end());
    const bool is_answered = pair[1].told == Told::fresh || pair[1].told == Told::duplicate;
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

// Compares what the threads were told with what the table holds.
class Truth {
 public:
  Truth(Store& store, const Witness& witness) : store_(store) {
    // A backend whose client has gone may still be at work.
    witness.wait_until(
        "NOT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database()"
        " AND application_name = 'hapax' AND state <> 'idle')");
    holders_ = witness.holders();
  }

  void expect_agrees(const std::vector<Request>& requests) {
    for (const Request& each : requests) {
      ++counts_[static_cast<std::size_t>(each.told)];
      expect_agrees(each);
      if (testing::Test::HasFailure()) return;
    }
    for (const auto& [id, winners] : winners_) EXPECT_EQ(winners, 1) << id;
    record("fresh", Told::fresh);
    record("duplicate", Told::duplicate);
    record("unknown", Told::unknown);
    record("did_not_happen", Told::did_not_happen);
  }

 private:
  void expect_agrees(const Request& request) {
    const auto claim = holders_.find(Witness::key_of(request.id));
    const bool is_held = claim != holders_.end();
    const bool is_ours = is_held && claim->second == hex(request.token);
    switch (request.told) {
      case Told::fresh:
        EXPECT_TRUE(is_ours) << request.id << " was acknowledged and is lost";
        ++winners_[request.id];
        break;
      case Told::duplicate:
        EXPECT_TRUE(is_held && !is_ours) << request.id << " is nobody else's";
        break;
      case Told::did_not_happen:
        EXPECT_FALSE(is_ours) << request.id << " did happen";
        break;
      case Told::unknown:
        resolve(request, is_held, is_ours);
    }
  }

  void resolve(const Request& request, bool is_held, bool is_ours) {
    const Result<Dedup> answer = ask_until_known(store_, request.dedup_request());
    ASSERT_TRUE(answer) << answer.error().to_string();
    const bool is_fresh = !answer->duplicate;
    EXPECT_EQ(is_fresh, is_ours || !is_held) << request.id;
    if (is_fresh) ++winners_[request.id];
    if (is_fresh && !is_held) {
      holders_[Witness::key_of(request.id)] = hex(request.token);
    }
  }

  void record(const char* name, Told told) const {
    const int count = counts_[static_cast<std::size_t>(told)];
    std::cout << "  " << name << ": " << count << "\n";
    testing::Test::RecordProperty(name, count);
  }

  Store& store_;
  std::map<std::string, std::string> holders_;
  std::map<std::string, int> winners_;
  std::array<int, kToldCount> counts_{};
};

TEST(Outage, BackendsThatAreTerminatedUnderLoadLoseAndDoubleNothing) {
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
  // With little patience, so that some calls end while the server is away.
  PostgresServer server_;
  Store store_ = open_with_short_timeout(server_.url(), 1s);
};

TEST_P(RestartTest, AServerThatIsRestartedUnderLoadLosesAndDoublesNothing) {
  Load load(store_);
  const int count = rounds(30);
  for (int i = 0; i < count; ++i) {
    ASSERT_TRUE(load.wait_for_answers(25)) << "before " << i + 1;
    server_.stop(GetParam());
    const bool for_longer = i % 3 == 1;  // than a call has time
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

TEST(Outage, AServerThatIsAwayAtTheStartIsAnErrorAtOnce) {
  PostgresServer server;
  server.stop(PostgresServer::Stop::fast);
  const Result<Store> store = open(server.url());
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code(), Code::store_unavailable) << store.error().to_string();
  EXPECT_EQ(store.error().outcome(), Outcome::did_not_happen) << store.error().to_string();
}

TEST(Outage, AServerThatStaysAwayIsAnErrorUntilItIsBack) {
  PostgresServer server;
  Store store = open_with_short_timeout(server.url(), 200ms);
  server.stop(PostgresServer::Stop::fast);
  std::array<Request, 2> requests{Request{.id = "a"}, Request{.id = "b"}};
  for (Request& each : requests) {
    const Result<Dedup> answer = store.dedup(each.dedup_request());
    ASSERT_FALSE(answer);
    EXPECT_TRUE(answer.error().retryable()) << answer.error().to_string();
    each.told = told_by(answer);
  }
  // Each waits for a third of its time-out at least, so that after them the server has been away
  // for longer than a restart takes. Then calls fail at once.
  for (int i = 0; i < 30; ++i) EXPECT_FALSE(store.purge());
  server.start();
  const Witness witness(server.connect());
  EXPECT_EQ(witness.claims(), 0);
  // A server that was away for long is asked now and then, not by every call.
  EXPECT_TRUE(eventually([&] { return store.purge().has_value(); }));
  for (const Request& each : requests) {
    EXPECT_FALSE(ask_until_known(store, each.dedup_request()).value().duplicate) << each.id;
    EXPECT_EQ(witness.holder_of(each.id), hex(each.token));
  }
}

}  // namespace
}  // namespace hapax::test
