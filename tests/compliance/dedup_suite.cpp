// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include <hapax/compliance.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <barrier>
#include <string>
#include <thread>
#include <vector>

namespace hapax::compliance {

namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kThreads = 16;

Token token(unsigned char number) {
  Token made;
  made.bytes.fill(number);
  return made;
}

// Drives the store through a case's steps. If the case runs with restarts, the store is restarted
// before each step.
class Steps {
 public:
  Steps(std::unique_ptr<Subject> subject, bool restarting)
      : subject_(std::move(subject)), restarting_(restarting) {}

  Result<std::vector<Dedup>> dedup(const std::vector<DedupRequest>& requests) {
    if (restarting_) subject_->restart();
    return subject_->store().dedup(requests);
  }

  // Sends one request, which must succeed, and returns whether it was a duplicate.
  bool duplicate(const DedupRequest& request) {
    const Result<std::vector<Dedup>> answers = dedup({request});
    if (!answers || answers->size() != 1) {
      ADD_FAILURE() << (answers ? "not one answer" : answers.error().to_string());
      return false;
    }
    return answers->front().duplicate;
  }
  bool fresh(const DedupRequest& request) { return !duplicate(request); }

  void refused(const std::vector<DedupRequest>& requests) {
    const Result<std::vector<Dedup>> answers = dedup(requests);
    ASSERT_FALSE(answers) << "the request was accepted";
    EXPECT_EQ(answers.error().code(), Code::invalid_argument);
    EXPECT_EQ(answers.error().outcome(), Outcome::did_not_happen);
  }

  void advance(milliseconds by) { subject_->advance(by); }
  DedupStore& store() { return subject_->store(); }

 private:
  std::unique_ptr<Subject> subject_;
  bool restarting_;
};

// Runs `work` concurrently on `threads` threads, passing each its index.
void all_at_once(int threads, const std::function<void(int)>& work) {
  std::barrier start(threads);
  std::vector<std::thread> running;
  running.reserve(static_cast<std::size_t>(threads));
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&, i] {
      start.arrive_and_wait();
      work(i);
    });
  }
  for (std::thread& each : running) each.join();
}

// Returns how many threads claimed the id.
int winners(DedupStore& store, const DedupRequest& request) {
  std::atomic<int> won{0};
  std::atomic<int> failed{0};
  all_at_once(kThreads, [&](int) {
    const Result<std::vector<Dedup>> answer = store.dedup(std::span(&request, 1));
    if (!answer) ++failed;
    if (answer && !answer->front().duplicate) ++won;
  });
  EXPECT_EQ(failed, 0);
  return won;
}

void the_first_claim_is_fresh_and_later_ones_are_duplicates(Steps& steps) {
  EXPECT_TRUE(steps.fresh({.scope = "s", .id = "a"}));
  EXPECT_TRUE(steps.duplicate({.scope = "s", .id = "a"}));
  EXPECT_TRUE(steps.duplicate({.scope = "s", .id = "a"}));
  EXPECT_TRUE(steps.fresh({.scope = "s", .id = "b"}));
}

void scopes_are_independent(Steps& steps) {
  EXPECT_TRUE(steps.fresh({.scope = "a", .id = "bc"}));
  EXPECT_TRUE(steps.fresh({.scope = "ab", .id = "c"}));
  EXPECT_TRUE(steps.fresh({.scope = "abc", .id = "a"}));
  EXPECT_TRUE(steps.fresh({.scope = "a:b", .id = "c"}));
  EXPECT_TRUE(steps.fresh({.scope = "a", .id = "b:c"}));
  EXPECT_TRUE(steps.duplicate({.scope = "a", .id = "bc"}));
}

void scopes_and_ids_may_be_any_bytes(Steps& steps) {
  using namespace std::string_view_literals;
  const std::array ids{"\0"sv,   "\0\0"sv,     "a\0b"sv,      "a\0c"sv, "a"sv, "\xff\xfe"sv,
                       "\xc3"sv, "\xc3\xa9"sv, "e\xcc\x81"sv, " a"sv,   "A"sv};
  for (std::string_view id : ids) EXPECT_TRUE(steps.fresh({.scope = "s", .id = id}));
  for (std::string_view id : ids) EXPECT_TRUE(steps.duplicate({.scope = "s", .id = id}));
  for (std::string_view id : ids) EXPECT_TRUE(steps.fresh({.scope = id, .id = "s"}));
  for (std::string_view id : ids) EXPECT_TRUE(steps.duplicate({.scope = id, .id = "s"}));
}

void the_longest_scopes_and_ids_differ_by_their_last_byte(Steps& steps) {
  const std::string scope(kMaxScope, 's');
  std::string id(kMaxId, 'i');
  EXPECT_TRUE(steps.fresh({.scope = scope, .id = id}));
  id.back() = 'j';
  EXPECT_TRUE(steps.fresh({.scope = scope, .id = id}));
  EXPECT_TRUE(steps.duplicate({.scope = scope, .id = id}));
}

void ids_of_every_length_are_remembered(Steps& steps) {
  for (std::size_t length : {1U, 2U, 127U, 128U, 195U, 196U, 197U, 198U, 199U, 200U, 255U, 256U}) {
    const std::string id(length, 'x');
    EXPECT_TRUE(steps.fresh({.scope = "s", .id = id})) << length;
    EXPECT_TRUE(steps.duplicate({.scope = "s", .id = id})) << length;
  }
}

void empty_or_oversized_input_is_rejected_before_any_write(Steps& steps) {
  const std::string long_scope(kMaxScope + 1, 's');
  const std::string long_id(kMaxId + 1, 'i');
  steps.refused({{.scope = "s", .id = "good"}, {.scope = "", .id = "a"}});
  steps.refused({{.scope = "s", .id = "good"}, {.scope = "s", .id = ""}});
  steps.refused({{.scope = "s", .id = "good"}, {.scope = long_scope, .id = "a"}});
  steps.refused({{.scope = "s", .id = "good"}, {.scope = "s", .id = long_id}});
  EXPECT_TRUE(steps.fresh({.scope = "s", .id = "good"}));
}

void a_ttl_of_zero_is_rejected_and_never_means_unlimited(Steps& steps) {
  steps.refused({{.scope = "s", .id = "a", .ttl = milliseconds(0)}});
  steps.refused({{.scope = "s", .id = "a", .ttl = milliseconds(-1)}});
  steps.refused({{.scope = "s", .id = "a", .ttl = milliseconds::max()}});
  steps.refused({{.scope = "s", .id = "a", .ttl = kMaxTtl + milliseconds(1)}});
  EXPECT_TRUE(steps.fresh({.scope = "s", .id = "a", .ttl = kMaxTtl}));
}

// Comparing seconds with milliseconds would keep a claim a thousand times too long, or expire it at
// once.
void a_ttl_of_a_second_expires_after_a_second_and_one_of_an_hour_does_not(Steps& steps) {
  EXPECT_TRUE(steps.fresh({.scope = "s", .id = "second", .ttl = seconds(1)}));
  EXPECT_TRUE(steps.fresh({.scope = "s", .id = "hour", .ttl = hours(1)}));
  EXPECT_TRUE(steps.duplicate({.scope = "s", .id = "second", .ttl = seconds(1)}));
  steps.advance(seconds(1));
  EXPECT_TRUE(steps.fresh({.scope = "s", .id = "second", .ttl = seconds(1)}));
  EXPECT_TRUE(steps.duplicate({.scope = "s", .id = "hour", .ttl = hours(1)}));
}

void a_claim_expires_at_the_exact_instant_of_its_expiry(Steps& steps) {
  EXPECT_TRUE(steps.fresh({.scope = "s", .id = "a", .ttl = seconds(10)}));
  steps.advance(seconds(10) - milliseconds(1));
  EXPECT_TRUE(steps.duplicate({.scope = "s", .id = "a", .ttl = seconds(10)}));
  steps.advance(milliseconds(1));
  EXPECT_EQ(winners(steps.store(), {.scope = "s", .id = "a", .ttl = seconds(10)}), 1);
}

void a_duplicate_does_not_extend_the_claim(Steps& steps) {
  EXPECT_TRUE(steps.fresh({.scope = "s", .id = "a", .ttl = seconds(1)}));
  EXPECT_TRUE(steps.duplicate({.scope = "s", .id = "a", .ttl = hours(1)}));
  steps.advance(seconds(1));
  EXPECT_TRUE(steps.fresh({.scope = "s", .id = "a", .ttl = hours(1)}));
}

// A claim may expire between the insert that conflicts with it and the read of its owner. The
// caller must get an answer all the same.
void a_claim_that_expires_during_a_race_gets_exactly_one_new_owner(Steps& steps) {
  for (int round = 0; round < 3; ++round) {
    const std::string id = "a" + std::to_string(round);
    const DedupRequest request{.scope = "s", .id = id, .ttl = seconds(1)};
    ASSERT_TRUE(steps.fresh(request));
    std::atomic<int> won{0};
    all_at_once(kThreads, [&](int thread) {
      if (thread == 0) return steps.advance(seconds(1));
      for (int i = 0; i < 20; ++i) {
        const Result<std::vector<Dedup>> answer = steps.store().dedup(std::span(&request, 1));
        if (!answer) ADD_FAILURE() << answer.error().to_string();
        if (answer && !answer->front().duplicate) ++won;
      }
    });
    const bool late = steps.fresh(request);
    EXPECT_EQ(won + (late ? 1 : 0), 1);
  }
}

void a_request_repeated_with_its_token_gets_its_first_answer_again(Steps& steps) {
  const DedupRequest ours{.scope = "s", .id = "a", .token = token(1)};
  EXPECT_TRUE(steps.fresh(ours));
  EXPECT_TRUE(steps.fresh(ours)) << "the first answer was lost; this is the same request";
  EXPECT_TRUE(steps.duplicate({.scope = "s", .id = "a", .token = token(2)}));
  EXPECT_TRUE(steps.duplicate({.scope = "s", .id = "a", .token = token(2)}));
  EXPECT_TRUE(steps.duplicate({.scope = "s", .id = "a"}));
  EXPECT_TRUE(steps.fresh(ours));
}

void a_repeated_request_does_not_extend_the_claim(Steps& steps) {
  const DedupRequest ours{.scope = "s", .id = "a", .ttl = seconds(2), .token = token(1)};
  EXPECT_TRUE(steps.fresh(ours));
  steps.advance(seconds(1));
  EXPECT_TRUE(steps.fresh(ours));
  steps.advance(seconds(1));
  EXPECT_TRUE(steps.fresh({.scope = "s", .id = "a", .token = token(2)}));
}

void a_token_whose_claim_was_taken_over_owns_nothing(Steps& steps) {
  EXPECT_TRUE(steps.fresh({.scope = "s", .id = "a", .ttl = seconds(1), .token = token(1)}));
  steps.advance(seconds(1));
  EXPECT_TRUE(steps.fresh({.scope = "s", .id = "a", .token = token(2)}));
  EXPECT_TRUE(steps.duplicate({.scope = "s", .id = "a", .token = token(1)}));
}

// If owners were identified by process or thread, two requests would share a claim.
void two_requests_of_one_process_are_two_owners(Steps& steps) {
  EXPECT_EQ(winners(steps.store(), {.scope = "s", .id = "a"}), 1);
  EXPECT_TRUE(steps.duplicate({.scope = "s", .id = "a"}));
}

void answers_are_in_the_order_of_the_requests(Steps& steps) {
  ASSERT_TRUE(steps.fresh({.scope = "s", .id = "m"}));
  ASSERT_TRUE(steps.fresh({.scope = "s", .id = "c"}));
  const auto answers = steps.dedup({{.scope = "s", .id = "z"},
                                    {.scope = "s", .id = "m"},
                                    {.scope = "s", .id = "a"},
                                    {.scope = "s", .id = "c"}});
  ASSERT_TRUE(answers) << answers.error().to_string();
  ASSERT_EQ(answers->size(), 4U);
  EXPECT_FALSE(answers->at(0).duplicate);
  EXPECT_TRUE(answers->at(1).duplicate);
  EXPECT_FALSE(answers->at(2).duplicate);
  EXPECT_TRUE(answers->at(3).duplicate);
}

void a_repeated_id_in_one_call_is_claimed_by_its_first_occurrence(Steps& steps) {
  const auto answers = steps.dedup(
      {{.scope = "s", .id = "a"}, {.scope = "s", .id = "b"}, {.scope = "s", .id = "a"}});
  ASSERT_TRUE(answers) << answers.error().to_string();
  ASSERT_EQ(answers->size(), 3U);
  EXPECT_FALSE(answers->at(0).duplicate);
  EXPECT_FALSE(answers->at(1).duplicate);
  EXPECT_TRUE(answers->at(2).duplicate);
}

void no_requests_give_no_answers(Steps& steps) {
  const auto answers = steps.dedup({});
  ASSERT_TRUE(answers) << answers.error().to_string();
  EXPECT_TRUE(answers->empty());
}

void a_thousand_ids_in_one_call_are_all_claimed(Steps& steps) {
  std::vector<std::string> ids;
  for (int i = 0; i < 1000; ++i) ids.push_back("id-" + std::to_string(i));
  std::vector<DedupRequest> requests;
  for (const std::string& id : ids) requests.push_back({.scope = "s", .id = id});
  for (const bool expected : {false, true}) {
    const auto answers = steps.dedup(requests);
    ASSERT_TRUE(answers) << answers.error().to_string();
    for (const Dedup& each : *answers) ASSERT_EQ(each.duplicate, expected);
  }
}

void many_threads_with_one_id_have_one_winner(Steps& steps) {
  for (int round = 0; round < 20; ++round) {
    const std::string id = std::to_string(round);
    ASSERT_EQ(winners(steps.store(), {.scope = "s", .id = id}), 1);
  }
}

void overlapping_calls_in_both_orders_claim_each_id_once(Steps& steps) {
  constexpr int kIds = 200;
  std::vector<std::string> ids;
  for (int i = 0; i < kIds; ++i) ids.push_back("id-" + std::to_string(i));
  std::array<std::atomic<int>, kIds> claims{};
  all_at_once(kThreads, [&](int thread) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < kIds; ++i) order.push_back(thread % 2 == 0 ? i : kIds - 1 - i);
    std::vector<DedupRequest> requests;
    for (std::size_t i : order) requests.push_back({.scope = "s", .id = ids[i]});
    const Result<std::vector<Dedup>> answers = steps.store().dedup(requests);
    if (!answers) {
      ADD_FAILURE() << answers.error().to_string();
      return;
    }
    for (std::size_t i = 0; i < kIds; ++i) claims[order[i]] += answers->at(i).duplicate ? 0 : 1;
  });
  for (const std::atomic<int>& each : claims) EXPECT_EQ(each, 1);
}

struct Case {
  const char* name;
  void (*body)(Steps&);
  bool needs_exact_time = false;
  bool has_steps = true;  // worth running again with a restart between the steps
};

constexpr Case kDedupCases[] = {
    {"TheFirstClaimIsFreshAndLaterOnesAreDuplicates",
     the_first_claim_is_fresh_and_later_ones_are_duplicates},
    {"ScopesAreIndependent", scopes_are_independent},
    {"ScopesAndIdsMayBeAnyBytes", scopes_and_ids_may_be_any_bytes},
    {"TheLongestScopesAndIdsDifferByTheirLastByte",
     the_longest_scopes_and_ids_differ_by_their_last_byte},
    {"IdsOfEveryLengthAreRemembered", ids_of_every_length_are_remembered},
    {"EmptyOrOversizedInputIsRejectedBeforeAnyWrite",
     empty_or_oversized_input_is_rejected_before_any_write},
    {"ATtlOfZeroIsRejectedAndNeverMeansUnlimited",
     a_ttl_of_zero_is_rejected_and_never_means_unlimited},
    {"ATtlOfASecondExpiresAfterASecondAndOneOfAnHourDoesNot",
     a_ttl_of_a_second_expires_after_a_second_and_one_of_an_hour_does_not},
    {"AClaimExpiresAtTheExactInstantOfItsExpiry",
     a_claim_expires_at_the_exact_instant_of_its_expiry, true},
    {"ADuplicateDoesNotExtendTheClaim", a_duplicate_does_not_extend_the_claim},
    {"AClaimThatExpiresDuringARaceGetsExactlyOneNewOwner",
     a_claim_that_expires_during_a_race_gets_exactly_one_new_owner, false, false},
    {"ARequestRepeatedWithItsTokenGetsItsFirstAnswerAgain",
     a_request_repeated_with_its_token_gets_its_first_answer_again},
    {"ARepeatedRequestDoesNotExtendTheClaim", a_repeated_request_does_not_extend_the_claim},
    {"ATokenWhoseClaimWasTakenOverOwnsNothing", a_token_whose_claim_was_taken_over_owns_nothing},
    {"TwoRequestsOfOneProcessAreTwoOwners", two_requests_of_one_process_are_two_owners},
    {"AnswersAreInTheOrderOfTheRequests", answers_are_in_the_order_of_the_requests},
    {"ARepeatedIdInOneCallIsClaimedByItsFirstOccurrence",
     a_repeated_id_in_one_call_is_claimed_by_its_first_occurrence},
    {"NoRequestsGiveNoAnswers", no_requests_give_no_answers},
    {"AThousandIdsInOneCallAreAllClaimed", a_thousand_ids_in_one_call_are_all_claimed},
    {"ManyThreadsWithOneIdHaveOneWinner", many_threads_with_one_id_have_one_winner, false, false},
    {"OverlappingCallsInBothOrdersClaimEachIdOnce",
     overlapping_calls_in_both_orders_claim_each_id_once, false, false},
};

using Make = std::function<std::unique_ptr<Subject>()>;

class CaseTest : public testing::Test {
 public:
  CaseTest(const Case& which, Make make, bool restarting)
      : case_(which), make_(std::move(make)), restarting_(restarting) {}

  void TestBody() override {
    Steps steps(make_(), restarting_);
    case_.body(steps);
  }

 private:
  const Case& case_;
  Make make_;
  bool restarting_;
};

void add(const std::string& suite, const std::string& name, const Case& which, const Make& make,
         bool restarting) {
  testing::RegisterTest(suite.c_str(), name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                        [&which, make, restarting]() -> testing::Test* {
                          return new CaseTest(which, make, restarting);
                        });
}

}  // namespace

void add_dedup_suite(const std::string& name, Traits traits, Make make) {
  for (const Case& each : kDedupCases) {
    if (each.needs_exact_time && !traits.exact_time) continue;
    add(name, each.name, each, make, false);
    if (traits.durable && each.has_steps) {
      add(name, std::string(each.name) + "AcrossRestarts", each, make, true);
    }
  }
}

}  // namespace hapax::compliance
