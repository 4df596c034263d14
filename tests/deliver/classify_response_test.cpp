// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "deliver/classify_response.hpp"

#include "support/world.hpp"

#include <gtest/gtest.h>

// Classification of responses, for the delivery and for the health of the destination.
namespace hapax::deliver {

namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

// Sun, 06 Nov 1994 08:49:37 GMT
constexpr WallTime kNow{seconds(784111777)};

class ClassifyResponseTest : public testing::Test {
 protected:
  ClassifyResponseTest() { destination_.retry = {seconds(10), seconds(60)}; }

  AttemptResult of(int status, unsigned attempt = 1, std::string retry_after = {}) {
    AttemptResponse answer;
    answer.status = status;
    answer.retry_after = std::move(retry_after);
    return classify_response(destination_, attempt, answer, kNow, random_);
  }
  milliseconds delay_of(int status, unsigned attempt, const std::string& retry_after) {
    return std::get<RetryIn>(of(status, attempt, retry_after).disposition).delay;
  }

  Destination destination_;
  test::SeededRandom random_{1};
};

TEST_F(ClassifyResponseTest, EverySuccessCompletes) {
  for (const int status : {200, 201, 202, 204, 299}) {
    const AttemptResult result = of(status);
    EXPECT_TRUE(std::holds_alternative<Ack>(result.disposition)) << status;
    EXPECT_TRUE(result.healthy);
    EXPECT_EQ(result.error, "");
  }
}

TEST_F(ClassifyResponseTest, GoneIsDeadAtOnceAndDoesNotCountAgainstTheDestination) {
  destination_.on_dead = OnDead::block;
  const AttemptResult result = of(410);
  const auto& dead = std::get<Dead>(result.disposition);
  EXPECT_EQ(dead.reason, EndReason::gone);
  EXPECT_EQ(dead.on_dead, OnDead::block);
  EXPECT_TRUE(result.healthy);
}

TEST_F(ClassifyResponseTest, OtherStatusesAreRetriedOnTheSchedule) {
  for (const int status : {100, 301, 302, 304, 400, 401, 404, 409, 429, 500, 503, 599}) {
    EXPECT_GE(delay_of(status, 1, ""), seconds(10)) << status;
    EXPECT_GE(delay_of(status, 2, ""), seconds(60)) << status;
  }
}

TEST_F(ClassifyResponseTest, AFailureAfterTheLastRetryIsDead) {
  EXPECT_EQ(std::get<Dead>(of(500, 3).disposition).reason, EndReason::exhausted);
  EXPECT_EQ(std::get<Dead>(of(429, 4, "5").disposition).reason, EndReason::exhausted);
  destination_.retry.clear();
  EXPECT_EQ(std::get<Dead>(of(500, 1).disposition).reason, EndReason::exhausted);
}

TEST_F(ClassifyResponseTest, JitterAddsAtMostATenth) {
  milliseconds least = hours(1);
  milliseconds most{0};
  for (int i = 0; i < 1000; ++i) {
    const milliseconds delay = delay_of(500, 2, "");
    least = std::min(least, delay);
    most = std::max(most, delay);
  }
  EXPECT_GE(least, seconds(60));
  EXPECT_LE(most, seconds(66));
  EXPECT_GT(most - least, seconds(3)) << "no jitter";
}

TEST_F(ClassifyResponseTest, TheLaterOfRetryAfterAndScheduleIsUsed) {
  EXPECT_GE(delay_of(429, 1, "30"), seconds(30));
  EXPECT_LE(delay_of(429, 1, "30"), seconds(33));
  EXPECT_LE(delay_of(429, 1, "5"), seconds(11)) << "the schedule has the later time";
  EXPECT_GE(delay_of(503, 1, "Sun, 06 Nov 1994 08:51:37 GMT"), seconds(120));
  EXPECT_LE(delay_of(503, 1, "Sun, 06 Nov 1994 08:51:37 GMT"), seconds(132));
  EXPECT_LE(delay_of(503, 1, "Sun, 06 Nov 1994 08:00:00 GMT"), seconds(11)) << "a date in the past";
  EXPECT_GE(delay_of(500, 1, "30"), seconds(30)) << "honored with any status";
}

TEST_F(ClassifyResponseTest, RetryAfterIsCappedAtADay) {
  for (const char* text :
       {"86401", "99999999999", "99999999999999999999999999", "Sat, 06 Nov 2094 08:51:37 GMT"}) {
    EXPECT_GE(delay_of(429, 1, text), hours(24)) << text;
    EXPECT_LE(delay_of(429, 1, text), hours(24) * 1.1) << text;
  }
}

TEST_F(ClassifyResponseTest, AnInvalidRetryAfterIsIgnored) {
  for (const char* text : {"", "soon", "-5", "1.5", "+30", "30s", "0x30", "Sun, 06 Nov"}) {
    EXPECT_LE(delay_of(429, 1, text), seconds(11)) << text;
  }
}

TEST_F(ClassifyResponseTest, OnlyDestinationFaultsCountAgainstIt) {
  EXPECT_FALSE(of(500).healthy);
  EXPECT_FALSE(of(429).healthy);
  EXPECT_FALSE(of(0).healthy);
  EXPECT_TRUE(of(400).healthy) << "a poison message is not a fault of the destination";
  EXPECT_TRUE(of(404).healthy);
}

TEST_F(ClassifyResponseTest, TheAttemptRecordsTheClassOfFailure) {
  EXPECT_EQ(of(500).error, "status");
  EXPECT_EQ(of(302).error, "redirect");
  AttemptResponse answer;
  answer.error = "timed-out";
  EXPECT_EQ(classify_response(destination_, 1, answer, kNow, random_).error, "timed-out");
}

}  // namespace

}  // namespace hapax::deliver
