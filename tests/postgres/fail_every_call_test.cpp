// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "postgres/jobs.hpp"
#include "postgres/libpq_faults.hpp"
#include "store/postgres/schema.hpp"
#include "support/eventually.hpp"
#include "support/postgres.hpp"

#include <gtest/gtest.h>

#include <iostream>
#include <optional>
#include <span>
#include <vector>

// The N-th libpq call fails, for every N until the runs end without reaching it. Whatever the store
// answered must be true of the database.
namespace hapax::test {
namespace {

constexpr int kCallsMax = 1000;  // a longer run is a failure
constexpr int kRepeatsMax = 100;
constexpr std::string_view kScope = "orders";

constexpr std::span<const Shape> kOnce(kShapes, 4);
constexpr std::span<const Shape> kForGood(kShapes + 4, 2);

class FailEveryCall : public testing::Test {
 protected:
  // `run` performs the operation with the nth call under a fault and returns whether that call was
  // reached.
  template <class Run>
  void fail_every_call(std::span<const Shape> shapes, Run run) {
    for (const Shape& shape : shapes) {
      shape_ = shape;
      fail_every_call(run);
      if (HasFailure()) return;
    }
  }

  static bool failed(Outcome reported) { return reported != Outcome::happened; }
  template <class T>
  static bool failed(const Result<T>& reported) {
    return !reported;
  }

  // Returns the result of `call` when the nth libpq call in it fails.
  template <class Call>
  auto under_fault(int nth, bool& reached, Call call) {
    const FailCall fault(shape_.fault, nth, shape_.lasting);
    auto reported = call();
    reached = fault.reached();
    is_too_slow_ = failed(reported) && !reached;
    return reported;
  }
  // A lasting fault gets a short time-out: waiting longer cannot help.
  OpenOptions options() {
    const bool lasting = shape_.lasting == Lasting::yes;
    return {.timeout = lasting ? std::chrono::milliseconds(50) : kLongTimeout, .clock = &clock_};
  }
  // Retries a call made without a fault: with so short a time-out a busy machine can make it fail.
  template <class Call>
  static auto retry(Call call) {
    std::optional<decltype(call())> answer;
    const bool is_known = eventually([&] {
      answer.emplace(call());
      return *answer || !answer->error().retryable();
    });
    EXPECT_TRUE(is_known) << answer->error().to_string();
    return std::move(*answer);
  }
  // The store must recover from a single failure: the server is reachable. With a short time-out a
  // call may fail on a slow machine without a fault, but its answer must still be true.
  bool must_succeed() const { return shape_.lasting == Lasting::no; }
  // Names an id that no other run uses.
  std::string name_of_run(int nth) const {
    return testing::PrintToString(shape_) + "-" + std::to_string(nth) + "-" +
           std::to_string(repeated_);
  }

  static void expect_no_transaction(PGconn* connection) {
    if (PQstatus(connection) != CONNECTION_OK) return;
    EXPECT_EQ(PQtransactionStatus(connection), PQTRANS_IDLE)
        << "a transaction is left open on a working connection";
  }

  // Waits until the stores have `left` connections to the server.
  void wait_for_backends(int left) const {
    wait_until(watcher_.get(), "count(*) = " + std::to_string(left) +
                                   " FROM pg_stat_activity WHERE datname = current_database()"
                                   " AND application_name = 'hapax'");
  }

  ManualClock clock_;
  PostgresDatabase database_;
  PgHandle watcher_ = database_.connect();

 private:
  // The number of libpq calls varies a little between runs, so the loop ends only after several
  // runs without the fault.
  template <class Run>
  void fail_every_call(Run& run) {
    int visited = 0;
    for (int nth = 1; nth <= visited + 3; ++nth) {
      ASSERT_LT(nth, kCallsMax) << "the run does not end";
      SCOPED_TRACE(name_of_run(nth));
      repeated_ = 0;
      do {
        if (run(nth)) visited = nth;
        if (HasFailure()) return;
        ASSERT_LT(++repeated_, kRepeatsMax) << "the run fails without a fault";
      } while (is_too_slow_);
    }
    EXPECT_GT(visited, 0);
    std::cout << shape_ << ": visited " << visited << " calls\n";
  }

  Shape shape_{};
  bool is_too_slow_ = false;  // the last call failed before its fault was reached
  int repeated_ = 0;
};

class FailEveryCallOfOpening : public FailEveryCall {
 protected:
  // Saves an fsync per migration. Disk failures are not under test here.
  void SetUp() override {
    ask_server("ALTER DATABASE " + database_.name() + " SET synchronous_commit = off");
  }

  // The migration is complete or absent.
  void expect_whole_or_absent() const {
    const std::string known = std::to_string(store::postgres::migrations().size());
    if (ask(watcher_.get(), "SELECT count(*) FROM pg_namespace WHERE nspname = 'hapax'") == "0") {
      return;
    }
    EXPECT_EQ(
        ask(watcher_.get(), "SELECT string_agg(version::text, ',') FROM hapax.schema_version"),
        known);
  }

  // A run starts from whatever the previous, failed run left behind; the last run succeeds.
  void drop_whole_schema() const {
    wait_for_backends(0);
    expect_whole_or_absent();
    ask(watcher_.get(), "SET client_min_messages = error; DROP SCHEMA IF EXISTS hapax CASCADE");
  }
};

TEST_F(FailEveryCallOfOpening, AStoreCanBeOpenedAfterAFailedOpen) {
  fail_every_call(kOnce, [&](int nth) {
    drop_whole_schema();
    bool reached = false;
    const Result<Store> store =
        under_fault(nth, reached, [&] { return open(database_.url(), {.timeout = kLongTimeout}); });
    EXPECT_TRUE(store || reached) << store.error().to_string();
    return reached;
  });
}

TEST_F(FailEveryCallOfOpening, ACallersDatabaseCanBeMigratedAfterAFailedMigration) {
  fail_every_call(kOnce, [&](int nth) {
    drop_whole_schema();
    const PgHandle connection = database_.connect();
    bool reached = false;
    const Result<PostgresSession> session =
        under_fault(nth, reached, [&] { return PostgresSession::attach(connection.get()); });
    EXPECT_TRUE(session || reached) << session.error().to_string();
    expect_no_transaction(connection.get());
    return reached;
  });
}

// One call of dedup(): unclaimed ids, and optionally one claimed id.
struct BatchRequest {
  std::vector<std::string> ids;
  std::optional<std::size_t> taken;  // index of the id that another caller has claimed
  std::vector<Token> tokens = std::vector<Token>(ids.size(), Token{});

  std::vector<DedupRequest> requests() const {
    std::vector<DedupRequest> all;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      all.push_back({.scope = kScope, .id = ids[i], .token = tokens[i]});
    }
    return all;
  }
};

class FailEveryCallOfDedup : public FailEveryCall {
 protected:
  enum class Before : bool { well, broken };

  // `make` creates the request of the named run; `before` is the state of the store's connection.
  template <class Make>
  void fail_dedup(std::span<const Shape> shapes, Before before, Make make) {
    Store witness = open(database_.url(), {.timeout = kLongTimeout, .clock = &clock_}).value();
    fail_every_call(shapes, [&](int nth) {
      BatchRequest call = make(name_of_run(nth));
      for (Token& token : call.tokens) token = make_token();
      if (call.taken) {
        EXPECT_FALSE(witness.dedup({.scope = kScope, .id = call.ids[*call.taken]})->duplicate);
      }
      Store store = retry([&] { return open(database_.url(), options()); }).value();
      if (before == Before::broken) end_all_backends();
      bool reached = false;
      const Result<std::vector<Dedup>> reported =
          under_fault(nth, reached, [&] { return store.dedup(call.requests()); });
      EXPECT_TRUE(reported || !must_succeed()) << reported.error().to_string();
      expect_accurate(witness, call, reported);
      expect_works(store, name_of_run(nth));
      return reached;
    });
  }

 private:
  void end_all_backends() const {
    ask(watcher_.get(),
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND application_name = 'hapax'");
    wait_for_backends(0);
  }

  static void expect_answers(const BatchRequest& call, const std::vector<Dedup>& answers) {
    ASSERT_EQ(answers.size(), call.ids.size());
    for (std::size_t i = 0; i < answers.size(); ++i) {
      EXPECT_EQ(answers[i].duplicate, call.taken == i) << "id " << call.ids[i];
    }
  }

  static void expect_accurate(Store& witness, const BatchRequest& call,
                              const Result<std::vector<Dedup>>& reported) {
    if (reported) expect_answers(call, *reported);
    const bool unknown = !reported && reported.error().outcome() == Outcome::unknown;
    if (unknown) expect_answers(call, witness.dedup(call.requests()).value());
    const bool claimed = reported || unknown;
    for (std::size_t i = 0; i < call.ids.size(); ++i) {
      const Result<Dedup> other = witness.dedup({.scope = kScope, .id = call.ids[i]});
      ASSERT_TRUE(other) << other.error().to_string();
      EXPECT_EQ(other->duplicate, claimed || call.taken == i)
          << "id " << call.ids[i] << " claimed by another caller, after "
          << (reported ? "success" : reported.error().to_string());
    }
  }

  static void expect_works(Store& store, const std::string& run) {
    const std::string id = "after " + run;
    const DedupRequest request{.scope = kScope, .id = id, .token = make_token()};
    const Result<Dedup> after = retry([&] { return store.dedup(request); });
    ASSERT_TRUE(after) << "after the fault: " << after.error().to_string();
    EXPECT_FALSE(after->duplicate);
  }
};

BatchRequest one_id(const std::string& run) {
  return {.ids = {"only " + run}, .taken = {}};
}

BatchRequest four_ids(const std::string& run) {
  return {.ids = {"d " + run, "a " + run, "c " + run, "b " + run}, .taken = 2};
}

TEST_F(FailEveryCallOfDedup, TheOutcomeOfAnIdIsExact) {
  fail_dedup(kOnce, Before::well, one_id);
}

TEST_F(FailEveryCallOfDedup, TheOutcomeOfAnIdIsExactWhenAllLaterCallsFail) {
  fail_dedup(kForGood, Before::well, one_id);
}

TEST_F(FailEveryCallOfDedup, OutcomesOfABatchAreExact) {
  fail_dedup(kOnce, Before::well, four_ids);
}

TEST_F(FailEveryCallOfDedup, OutcomesOfABatchAreExactWhenAllLaterCallsFail) {
  fail_dedup(kForGood, Before::well, four_ids);
}

TEST_F(FailEveryCallOfDedup, TheOutcomeIsExactOverANewConnection) {
  fail_dedup(kOnce, Before::broken, one_id);
}

TEST_F(FailEveryCallOfDedup, TheOutcomeIsExactOverANewConnectionWhenAllLaterCallsFail) {
  fail_dedup(kForGood, Before::broken, one_id);
}

class FailEveryCallOfPurge : public FailEveryCall {
 protected:
  Result<Purged> purge_under_fault(int nth, bool& reached) {
    Store store = retry([&] { return open(database_.url(), options()); }).value();
    Result<Purged> reported = under_fault(nth, reached, [&] { return store.purge(); });
    EXPECT_TRUE(retry([&] { return store.purge(); })) << "after the fault";
    return reported;
  }

  void fail_purge(std::span<const Shape> shapes);
};

void FailEveryCallOfPurge::fail_purge(std::span<const Shape> shapes) {
  Store witness = open(database_.url(), {.timeout = kLongTimeout, .clock = &clock_}).value();
  ASSERT_TRUE(witness.dedup({.scope = kScope, .id = "living"}));
  const std::chrono::milliseconds ttl(10);
  fail_every_call(shapes, [&](int nth) {
    EXPECT_TRUE(witness.dedup({.scope = kScope, .id = name_of_run(nth), .ttl = ttl}));
    clock_.advance(ttl);
    bool reached = false;
    const Result<Purged> reported = purge_under_fault(nth, reached);
    EXPECT_TRUE(reported || !must_succeed()) << reported.error().to_string();
    wait_for_backends(1);  // an abandoned purge runs to its end on the server
    EXPECT_EQ(ask(watcher_.get(), "SELECT count(*) FROM hapax.claim"), "1");
    EXPECT_TRUE(witness.dedup({.scope = kScope, .id = "living"})->duplicate);
    return reached;
  });
}

TEST_F(FailEveryCallOfPurge, ExpiredClaimsAreRemovedAndLiveOnesStay) {
  fail_purge(kOnce);
}

TEST_F(FailEveryCallOfPurge, ExpiredClaimsAreRemovedAndLiveOnesStayWhenAllLaterCallsFail) {
  fail_purge(kForGood);
}

class FailEveryCallOfOnce : public FailEveryCall {
 protected:
  void SetUp() override {
    ASSERT_TRUE(make_caller_tables(watcher_.get()));
    ASSERT_TRUE(migrate(database_.url()));
  }

  // On a new connection once() reports what happened, and does the work if it had not.
  void expect_accurate(const std::string& id, Outcome reported) {
    const PgHandle connection = database_.connect();
    PostgresSession session = PostgresSession::attach(connection.get()).value();
    const Result<Once> again = do_and_commit(session, id);
    ASSERT_TRUE(again) << again.error().to_string();
    if (reported != Outcome::unknown) {
      EXPECT_EQ(again->duplicate, reported == Outcome::happened) << "reported: " << name(reported);
    }
    EXPECT_EQ(traces_of(connection.get(), id), kAll);
    expect_all_agree(connection.get());
  }
};

// Only commit() may report an unknown outcome.
Outcome run_job(PGconn* connection, const std::string& id) {
  Result<PostgresSession> session = PostgresSession::attach(connection);
  if (!session) return Outcome::did_not_happen;
  Result<PostgresTransaction> tx = session->begin();
  if (!tx) return Outcome::did_not_happen;
  const Result<Once> done = do_job(*tx, id);
  if (!done) {
    EXPECT_EQ(done.error().outcome(), Outcome::did_not_happen) << done.error().to_string();
    return done.error().outcome();
  }
  EXPECT_FALSE(done->duplicate);
  const Result<void> committed = tx->commit();
  return committed ? Outcome::happened : committed.error().outcome();
}

TEST_F(FailEveryCallOfOnce, OutcomesAreExactInATransactionOfHapax) {
  fail_every_call(kShapes, [&](int nth) {
    const std::string id = name_of_run(nth);
    PgHandle connection = database_.connect();
    bool reached = false;
    const Outcome reported =
        under_fault(nth, reached, [&] { return run_job(connection.get(), id); });
    EXPECT_TRUE(reached || reported == Outcome::happened);
    expect_no_transaction(connection.get());
    connection.reset();
    expect_accurate(id, reported);
    return reached;
  });
}

// The caller commits regardless of what once() returned, on a connection that may be broken.
TEST_F(FailEveryCallOfOnce, ACommitDespiteAnErrorOfOnceBurnsNoId) {
  fail_every_call(kShapes, [&](int nth) {
    const std::string id = name_of_run(nth);
    PgHandle connection = database_.connect();
    PostgresSession session = PostgresSession::attach(connection.get()).value();
    ask(connection.get(), "BEGIN");
    PostgresTx tx = session.join().value();
    bool reached = false;
    const Result<Once> done = under_fault(nth, reached, [&] { return do_job(tx, id); });
    EXPECT_TRUE(done || reached) << done.error().to_string();
    PQclear(PQexec(connection.get(), "COMMIT"));
    const bool committed = done && PQstatus(connection.get()) == CONNECTION_OK;
    connection.reset();
    expect_accurate(
        id, committed ? Outcome::happened : (done ? Outcome::unknown : done.error().outcome()));
    return reached;
  });
}

}  // namespace
}  // namespace hapax::test
