// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "postgres/gate.hpp"
#include "postgres/witness.hpp"

#include <gtest/gtest.h>

#include <array>
#include <future>

// The answer to a claim is lost, before or after the server committed. The store repeats the
// request with its token and gets the actual outcome; if it cannot, it reports unknown.
namespace hapax::test {
namespace {

using namespace std::chrono_literals;

// Half of the faults strike before the server got the request, half after it committed. A silenced
// connection is noticed only after the time-out, so only a tenth are silenced.
Fault fault_of(int round) {
  const bool before = round % 2 == 0;
  const bool cut = round % 20 < 18;
  if (cut) return before ? Fault::cut_before : Fault::cut_after;
  return before ? Fault::silence_before : Fault::silence_after;
}

bool is_silence(Fault fault) {
  return fault == Fault::silence_before || fault == Fault::silence_after;
}

class LostAnswerTest : public testing::Test {
 protected:
  Store open_through_gate(std::chrono::milliseconds timeout) {
    return open_with_retries(gate_.url(database_.name()), {.timeout = timeout});
  }
  // The store that makes the faulty claim. A cut connection is noticed at once, a silent one only
  // after the time-out.
  Store& store_for(Fault fault) { return is_silence(fault) ? short_timeout_ : store_; }

  // Claims through the gate while the answer is lost. Returns true if the claim was fresh.
  bool claim_and_lose(Fault fault, const std::string& id) {
    gate_.arm(fault, Kind::claim);
    const Result<Dedup> answer = store_for(fault).dedup({.scope = kScope, .id = id});
    EXPECT_TRUE(gate_.wait_for_strikes(++expected_strikes_));
    EXPECT_TRUE(answer) << id << ": " << answer.error().to_string();
    return answer && !answer->duplicate;
  }
  bool is_known(Store& store, const std::string& id) {
    return store.dedup({.scope = kScope, .id = id}).value().duplicate;
  }
  // The same for a store whose calls may time out on a slow machine.
  bool is_known_with_retries(Store& store, const std::string& id) {
    const DedupRequest request{.scope = kScope, .id = id, .token = make_token()};
    return retry_until_known(store, request).value().duplicate;
  }

  PostgresDatabase database_;
  Gate gate_;
  // Another client, with a working network. It is opened first and creates the schema.
  Store other_ = open(database_.url(), {.timeout = kLongTimeout}).value();
  Store store_ = open_through_gate(kLongTimeout);
  Store short_timeout_ = open_through_gate(2s);
  Witness witness_{database_.connect()};
  int expected_strikes_ = 0;
};

TEST_F(LostAnswerTest, AClaimWithALostAnswerReturnsTheTrueOutcome) {
  const int count = rounds(200);
  for (int i = 0; i < count && !HasFailure(); ++i) {
    const Fault fault = fault_of(i);
    const std::string fresh = "fresh-" + std::to_string(i);
    EXPECT_TRUE(claim_and_lose(fault, fresh)) << fresh;
    EXPECT_TRUE(is_known(other_, fresh)) << fresh;
    EXPECT_TRUE(is_known_with_retries(short_timeout_, fresh)) << fresh;
    if (is_silence(fault)) continue;  // the rest would repeat it, with a wait
    EXPECT_TRUE(is_known(store_, fresh)) << fresh;
    const std::string taken = "taken-" + std::to_string(i);
    ASSERT_FALSE(is_known(other_, taken));
    EXPECT_FALSE(claim_and_lose(fault, taken)) << taken;
  }
  RecordProperty("answers_lost", gate_.strikes());
}

// A batch in which some ids are unclaimed, some claimed by another caller, and some expired. The
// first id appears twice.
class LostBatchTest : public LostAnswerTest {
 protected:
  static constexpr std::size_t kSize = 50;

  static bool is_taken(std::size_t n) { return n % 5 == 3; }
  static bool is_expired(std::size_t n) { return n % 5 == 1; }
  static bool is_second(std::size_t n) { return n == kSize - 1; }

  void make_ids(int round) {
    for (std::size_t n = 0; n < kSize; ++n) {
      ids_[n] = "id-" + std::to_string(round) + "-" + std::to_string(n);
      requests_[n] = {.scope = kScope, .id = ids_[n]};
    }
    requests_[kSize - 1].id = ids_[0];
    std::vector<DedupRequest> before;
    for (std::size_t n = 0; n < kSize; ++n) {
      if (is_taken(n)) before.push_back({.scope = kScope, .id = ids_[n]});
      if (is_expired(n)) before.push_back({.scope = kScope, .id = ids_[n], .ttl = 1ms});
    }
    const std::vector<Dedup> claimed = other_.dedup(before).value();
    for (const Dedup& each : claimed) EXPECT_FALSE(each.duplicate);
    witness_.wait_until_short_claims_expire();
  }

  std::array<std::string, kSize> ids_;
  std::array<DedupRequest, kSize> requests_;
};

TEST_F(LostBatchTest, ABatchWithALostAnswerReturnsTheTrueOutcomes) {
  const int count = rounds(200);
  for (int i = 0; i < count && !HasFailure(); ++i) {
    make_ids(i);
    gate_.arm(fault_of(i), Kind::claim);
    const Result<std::vector<Dedup>> answers = store_for(fault_of(i)).dedup(requests_);
    ASSERT_TRUE(answers) << answers.error().to_string();
    EXPECT_TRUE(gate_.wait_for_strikes(i + 1));
    for (std::size_t n = 0; n < kSize; ++n) {
      EXPECT_EQ((*answers)[n].duplicate, is_taken(n) || is_second(n)) << ids_[n];
    }
    const std::vector<Dedup> later = store_.dedup(requests_).value();
    for (const Dedup& each : later) EXPECT_TRUE(each.duplicate);
  }
  EXPECT_EQ(witness_.claims(), count * static_cast<int>(kSize - 1));
  RecordProperty("answers_lost", gate_.strikes());
}

TEST_F(LostAnswerTest, DelayedSingleBytesChangeNothing) {
  gate_.trickle(1);
  gate_.delay_each_chunk(20ms);
  Store slow = open_through_gate(kLongTimeout);
  for (int i = 0; i < rounds(50); ++i) {
    const std::string id = std::to_string(i);
    EXPECT_FALSE(is_known(slow, id));
    EXPECT_TRUE(is_known(slow, id));
  }
}

// Connecting takes several round trips, especially with TLS and a password.
TEST_F(LostAnswerTest, AStoreRecoversWhenConnectingTakesLongerThanItsTimeout) {
  Store store = open_through_gate(1s);
  gate_.delay_each_chunk(300ms);
  ASSERT_FALSE(is_known_with_retries(store, "a")) << "an answer arrives in time";
  gate_.cut();
  EXPECT_TRUE(is_known_with_retries(store, "a"));
}

TEST_F(LostAnswerTest, ARequestThatArrivesAfterItsRepeatClaimsNothing) {
  const int count = rounds(200);
  for (int i = 0; i < count && !HasFailure(); ++i) {
    const std::string id = std::to_string(i);
    EXPECT_TRUE(claim_and_lose(Fault::hold, id)) << "the repeat claimed it";
    const std::string holder = witness_.holder_of(id);
    gate_.release_held();
    gate_.wait_until_held_is_answered();
    EXPECT_EQ(witness_.holder_of(id), holder);
    EXPECT_TRUE(is_known(other_, id));
  }
  EXPECT_EQ(witness_.claims(), count);
}

// The old backend holds the row and has not committed when the repeat arrives: the repeat must
// wait.
struct Unfinished {
  const char* name;
  bool times_out;   // otherwise the connection is cut
  bool commits;     // otherwise the old backend rolls back
  bool is_expired;  // the ids have expired claims, whose rows are taken over

  friend void PrintTo(const Unfinished& each, std::ostream* out) { *out << each.name; }
};

class UnfinishedTest : public LostAnswerTest, public testing::WithParamInterface<Unfinished> {
 protected:
  // Inserting a claim waits for the test's lock without a limit, and ignores the store's lock
  // time-out and cancellation. Otherwise the old backend would end before the repeat.
  void SetUp() override {
    witness_.text(
        "CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql SET lock_timeout = 0 AS $$ BEGIN "
        "LOOP BEGIN PERFORM pg_advisory_xact_lock_shared(7); RETURN NULL;"
        " EXCEPTION WHEN query_canceled THEN NULL; END; END LOOP; END $$;"
        "CREATE TRIGGER wait AFTER INSERT OR UPDATE ON hapax.claim "
        "FOR EACH ROW EXECUTE FUNCTION wait()");
  }

  // The two ids of a batch, each with its own token.
  struct Pair {
    explicit Pair(int round) : first("a" + std::to_string(round)), second("b" + first) {}
    std::array<DedupRequest, 2> requests() const {
      return {DedupRequest{.scope = kScope, .id = first, .token = tokens[0]},
              DedupRequest{.scope = kScope, .id = second, .token = tokens[1]}};
    }
    std::string first;
    std::string second;
    std::array<Token, 2> tokens{make_token(), make_token()};
  };

  void make_expired(const Pair& pair) {
    for (DedupRequest each : pair.requests()) {
      each.ttl = 1ms;
      each.token = make_token();
      EXPECT_FALSE(other_.dedup(each).value().duplicate);
    }
    witness_.wait_until_short_claims_expire();
  }

  // Waits until the repeat waits for the old backend, then ends the old one.
  void end_old_backend(PGconn* lock) {
    const std::string old = witness_.wait_for_backend("advisory");
    if (!GetParam().times_out) gate_.cut();
    witness_.wait_for_backend("transactionid", old);
    if (!GetParam().commits) {
      witness_.text("SELECT pg_terminate_backend(" + old + ")");
      witness_.wait_for_backend("advisory", old);  // now the repeat has the row
    }
    ask(lock, "SELECT pg_advisory_unlock(7)");
  }
};

TEST_P(UnfinishedTest, ARepeatWaitsForATransactionThatStillHoldsTheClaim) {
  const PgHandle lock = database_.connect();
  const bool times_out = GetParam().times_out;
  Store store = open_through_gate(times_out ? 1s : kLongTimeout);
  const int count = GetParam().times_out ? rounds(10) : rounds(50);
  for (int i = 0; i < count && !HasFailure(); ++i) {
    const Pair pair(i);
    if (GetParam().is_expired) make_expired(pair);
    ask(lock.get(), "SELECT pg_advisory_lock(7)");
    auto claim = std::async(std::launch::async, [&] {
      return times_out ? retry_until_known(store, pair.requests()) : store.dedup(pair.requests());
    });
    end_old_backend(lock.get());
    const Result<std::vector<Dedup>> answers = claim.get();
    ASSERT_TRUE(answers) << answers.error().to_string();
    for (const Dedup& each : *answers) EXPECT_FALSE(each.duplicate);
    EXPECT_EQ(witness_.holder_of(pair.first), hex(pair.tokens[0]));
    EXPECT_EQ(witness_.holder_of(pair.second), hex(pair.tokens[1]));
    EXPECT_TRUE(is_known(other_, pair.first));
  }
  EXPECT_EQ(witness_.claims(), 2 * count);
}

TEST_P(UnfinishedTest, ATransactionThatOutlivesTheCallIsUnknown) {
  const PgHandle lock = database_.connect();
  Store store = open_through_gate(200ms);
  const Pair pair(0);
  if (GetParam().is_expired) make_expired(pair);
  ask(lock.get(), "SELECT pg_advisory_lock(7)");
  auto claim = std::async(std::launch::async, [&] { return store.dedup(pair.requests()); });
  const std::string old = witness_.wait_for_backend("advisory");
  if (!GetParam().times_out) gate_.cut();
  const Result<std::vector<Dedup>> answers = claim.get();
  ASSERT_FALSE(answers);
  EXPECT_EQ(answers.error().outcome(), Outcome::unknown) << answers.error().to_string();

  if (!GetParam().commits) witness_.text("SELECT pg_terminate_backend(" + old + ")");
  ask(lock.get(), "SELECT pg_advisory_unlock(7)");
  const Result<std::vector<Dedup>> again = retry_until_known(store, pair.requests());
  ASSERT_TRUE(again) << again.error().to_string();
  for (const Dedup& each : *again) EXPECT_FALSE(each.duplicate);
  EXPECT_EQ(witness_.holder_of(pair.first), hex(pair.tokens[0]));
  EXPECT_EQ(witness_.claims(), 2);
}

INSTANTIATE_TEST_SUITE_P(
    Ways, UnfinishedTest,
    testing::Values(Unfinished{"CutThenCommitted", false, true, false},
                    Unfinished{"CutThenRolledBack", false, false, false},
                    Unfinished{"CutWhileTakingOverThenCommitted", false, true, true},
                    Unfinished{"CutWhileTakingOverThenRolledBack", false, false, true},
                    Unfinished{"TimedOutThenCommitted", true, true, false},
                    Unfinished{"TimedOutThenRolledBack", true, false, false}),
    [](const auto& each) { return std::string(each.param.name); });

// The answer is lost and the server is unreachable.
class UnreachableTest : public LostAnswerTest {
 protected:
  // The caller gets unknown, whatever happened to the claim; a later repeat resolves it.
  void expect_unknown_then_resolved(const std::string& id) {
    const Token token = make_token();
    const DedupRequest request{.scope = kScope, .id = id, .token = token};
    const Result<Dedup> answer = quick_.dedup(request);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code(), Code::outcome_unknown) << answer.error().to_string();
    EXPECT_EQ(answer.error().outcome(), Outcome::unknown) << answer.error().to_string();
    gate_.heal();
    const Result<Dedup> again = retry_until_known(quick_, request);
    ASSERT_TRUE(again) << again.error().to_string();
    EXPECT_FALSE(again->duplicate);
    EXPECT_EQ(witness_.holder_of(id), hex(token));
    EXPECT_TRUE(is_known(other_, id));
  }

  Store quick_ = open_through_gate(200ms);
};

TEST_F(UnreachableTest, AnAnswerLostWhileConnectionsAreRefusedIsUnknown) {
  for (const Fault fault : {Fault::cut_before, Fault::cut_after}) {
    gate_.on_connect(OnConnect::refuse);
    gate_.arm(fault, Kind::claim);
    expect_unknown_then_resolved(fault == Fault::cut_before ? "before" : "after");
  }
  EXPECT_TRUE(gate_.wait_for_strikes(2));
}

TEST_F(UnreachableTest, AnAnswerLostInAHalfOpenNetworkIsUnknown) {
  gate_.on_connect(OnConnect::swallow);
  gate_.arm(Fault::silence_after, Kind::claim);
  expect_unknown_then_resolved("committed");
  EXPECT_TRUE(gate_.wait_for_strikes(1));
}

TEST_F(UnreachableTest, ARequestIntoAHalfOpenNetworkIsUnknown) {
  gate_.half_open();
  expect_unknown_then_resolved("half-open");
}

TEST_F(UnreachableTest, AnUnsentStatementDidNotHappen) {
  gate_.on_connect(OnConnect::refuse);
  gate_.cut();
  const DedupRequest request{.scope = kScope, .id = "a", .token = make_token()};
  ASSERT_FALSE(quick_.dedup(request)) << "the connection was cut";
  const Result<Dedup> answer = quick_.dedup(request);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code(), Code::store_unavailable) << answer.error().to_string();
  EXPECT_EQ(answer.error().outcome(), Outcome::did_not_happen);
  EXPECT_EQ(witness_.claims(), 0);
}

}  // namespace
}  // namespace hapax::test
