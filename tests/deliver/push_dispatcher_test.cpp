// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "deliver/push_dispatcher.hpp"

#include "deliver/classify_response.hpp"
#include "deliver/stage.hpp"

#include <gtest/gtest.h>

#include <algorithm>

// The dispatcher on simulated time, without real waits.
namespace hapax::deliver {

namespace {

using Act = ScriptedTransport::Act;
using std::chrono::hours;
using store::fault::Fault;

// The latest retry: the scheduled delay with full jitter, plus a slack that covers the 10 ms that
// an attempt takes.
constexpr double kLatest = 1 + kJitter;
constexpr BootTime kSlack = milliseconds(20);

std::optional<Act> answer(int code, std::string retry_after = {}) {
  return Act{status(code, std::move(retry_after))};
}

class PushDispatcherTest : public testing::Test {
 protected:
  Stage stage_;
};

TEST_F(PushDispatcherTest, DeliversAndSettlesDueDeliveries) {
  const auto orders = stage_.destination("orders");
  const EventNo event = stage_.send({orders->no});
  const PushDispatcher& dispatcher = stage_.start(orders);
  stage_.run_for(seconds(1));
  EXPECT_EQ(stage_.row(event).state, DeliveryState::completed);
  ASSERT_EQ(stage_.transport.seen.size(), 1U);
  EXPECT_EQ(stage_.transport.seen[0].attempt, 1U);
  EXPECT_EQ(stage_.outcomes, std::vector<std::string>{"completed"});
  EXPECT_EQ(dispatcher.under_way(), 0U);
}

TEST_F(PushDispatcherTest, RetriesOnTheScheduleAndIsDeadAfterIt) {
  const auto orders = stage_.destination("orders");
  stage_.transport.script = [](const Seen&) { return answer(500); };
  const EventNo event = stage_.send({orders->no});
  stage_.start(orders);
  stage_.run_for(minutes(2));
  const std::vector<Seen>& seen = stage_.transport.seen;
  ASSERT_EQ(seen.size(), 4U);
  for (std::size_t i = 1; i < seen.size(); ++i) {
    const BootTime gap = seen[i].at - seen[i - 1].at;
    EXPECT_GE(gap, orders->retry[i - 1]);
    EXPECT_LE(gap, orders->retry[i - 1] * kLatest + kSlack);
    EXPECT_EQ(seen[i].attempt, i + 1);
    EXPECT_GT(seen[i].fence, seen[i - 1].fence);
  }
  const store::DeliveryRow row = stage_.row(event);
  EXPECT_EQ(row.state, DeliveryState::dead);
  EXPECT_EQ(row.reason, EndReason::exhausted);
  EXPECT_EQ(row.attempts, 4U);
  EXPECT_EQ(stage_.detail(event).attempts.size(), 4U);
  stage_.run_for(hours(24));
  EXPECT_EQ(seen.size(), 4U) << "no attempt of a dead delivery";
}

TEST_F(PushDispatcherTest, HonorsRetryAfterInSeconds) {
  const auto orders = stage_.destination("orders");
  stage_.transport.script = [](const Seen& seen) {
    return answer(seen.attempt == 1 ? 429 : 200, "600");
  };
  stage_.send({orders->no});
  stage_.start(orders);
  stage_.run_for(hours(1));
  ASSERT_EQ(stage_.transport.seen.size(), 2U);
  const BootTime gap = stage_.transport.seen[1].at - stage_.transport.seen[0].at;
  EXPECT_GE(gap, seconds(600));
  EXPECT_LE(gap, seconds(600) * kLatest + kSlack);
}

TEST_F(PushDispatcherTest, HonorsRetryAfterAsADateUpToADay) {
  const auto orders = stage_.destination("orders");
  // The stage starts on 14 November 2023.
  stage_.transport.script = [](const Seen& seen) {
    return answer(seen.attempt == 1 ? 503 : 200, "Fri, 14 Nov 2053 22:13:20 GMT");
  };
  const EventNo event = stage_.send({orders->no});
  stage_.start(orders);
  stage_.run_for(hours(27));
  ASSERT_EQ(stage_.transport.seen.size(), 2U);
  EXPECT_GE(stage_.transport.seen[1].at - stage_.transport.seen[0].at, hours(24));
  EXPECT_EQ(stage_.row(event).state, DeliveryState::completed);
}

TEST_F(PushDispatcherTest, GoneIsDeadAtOnce) {
  const auto orders = stage_.destination("orders");
  stage_.transport.script = [](const Seen&) { return answer(410); };
  const EventNo event = stage_.send({orders->no});
  stage_.start(orders);
  stage_.run_for(minutes(5));
  EXPECT_EQ(stage_.transport.seen.size(), 1U);
  EXPECT_EQ(stage_.row(event).state, DeliveryState::dead);
  EXPECT_EQ(stage_.row(event).reason, EndReason::gone);
}

TEST_F(PushDispatcherTest, ADeliveryPastItsHorizonIsDeadWithoutAnAttempt) {
  const auto orders = stage_.destination("orders", [](Destination& to) {
    to.retry.assign(10, seconds(40));
    to.horizon = minutes(1);
  });
  stage_.transport.script = [](const Seen&) { return answer(500); };
  const EventNo event = stage_.send({orders->no});
  stage_.start(orders);
  stage_.run_for(minutes(10));
  EXPECT_EQ(stage_.transport.seen.size(), 2U) << "a third attempt would exceed the horizon";
  EXPECT_EQ(stage_.row(event).state, DeliveryState::dead);
  EXPECT_EQ(stage_.row(event).reason, EndReason::horizon);
}

TEST_F(PushDispatcherTest, NeverExceedsItsConcurrency) {
  const auto orders = stage_.destination("orders", [](Destination& to) { to.concurrency = 3; });
  for (int i = 0; i < 50; ++i) stage_.send({orders->no});
  const PushDispatcher& dispatcher = stage_.start(orders);
  for (int i = 0; i < 100; ++i) {
    stage_.run_for(milliseconds(7));
    EXPECT_LE(dispatcher.under_way(), 3U);
  }
  EXPECT_EQ(stage_.transport.seen.size(), 50U);
  EXPECT_EQ(stage_.transport.most_at_once["orders"], 3U) << "uses its full concurrency";
}

TEST_F(PushDispatcherTest, NeverExceedsItsRate) {
  const auto orders = stage_.destination("orders", [](Destination& to) { to.rate = 5; });
  for (int i = 0; i < 60; ++i) stage_.send({orders->no});
  stage_.start(orders);
  stage_.run_for(seconds(60));
  const std::vector<Seen>& seen = stage_.transport.seen;
  ASSERT_EQ(seen.size(), 60U);
  for (std::size_t i = 0; i + 10 < seen.size(); ++i) {
    // A burst has at most one second's worth of attempts.
    EXPECT_GE(seen[i + 10].at - seen[i].at, seconds(1) - kSlack) << i;
  }
  EXPECT_LE(seen.back().at - seen.front().at, seconds(12)) << "not much slower than the rate";
}

TEST_F(PushDispatcherTest, AnOpenBreakerStopsAttemptsAndCountsNone) {
  const auto orders = stage_.destination("orders", [](Destination& to) {
    to.breaker = BreakerLimits{};
    to.retry.assign(8, seconds(1));
    to.concurrency = 4;
  });
  std::vector<EventNo> events;
  for (int i = 0; i < 40; ++i) events.push_back(stage_.send({orders->no}));
  bool broken = true;
  stage_.transport.script = [&](const Seen&) { return answer(broken ? 500 : 200); };
  const PushDispatcher& dispatcher = stage_.start(orders);
  stage_.run_for(seconds(1));
  EXPECT_EQ(dispatcher.breaker(), Breaker::State::open);
  const std::size_t before = stage_.transport.seen.size();
  EXPECT_GE(before, 10U);
  EXPECT_LE(before, 13U) << "ten failures, and the attempts in flight";
  stage_.run_for(milliseconds(3900));
  EXPECT_EQ(stage_.transport.seen.size(), before) << "no attempt while the breaker is open";
  stage_.run_for(milliseconds(300));
  EXPECT_EQ(stage_.transport.seen.size(), before + 1) << "one probe";
  EXPECT_EQ(dispatcher.breaker(), Breaker::State::open);
  broken = false;
  stage_.run_for(minutes(1));
  EXPECT_EQ(dispatcher.breaker(), Breaker::State::closed);
  std::size_t counted = 0;
  for (const EventNo each : events) {
    EXPECT_EQ(stage_.row(each).state, DeliveryState::completed);
    for (const Attempt& attempt : stage_.detail(each).attempts) {
      if (attempt.outcome == AttemptOutcome::retried) ++counted;
    }
  }
  EXPECT_EQ(counted, before + 1) << "only real attempts count";
}

TEST_F(PushDispatcherTest, AHangingDestinationDoesNotAffectOthers) {
  const auto play = [](bool hangs) {
    Stage stage;
    const auto bad = stage.destination("bad", [](Destination& to) { to.timeout = seconds(20); });
    const auto good = stage.destination("good", [](Destination& to) { to.concurrency = 2; });
    stage.transport.script = [&](const Seen& seen) -> std::optional<Act> {
      if (seen.to == "bad" && hangs) return std::nullopt;
      return Act{status(200), milliseconds(30)};
    };
    for (int i = 0; i < 100; ++i) {
      stage.timeline.at(stage.now() + milliseconds(i * 11), [&stage, bad, good] {
        const std::vector<store::Target> both{{bad->no}, {good->no}};
        stage.send({bad->no, good->no});
        stage.notifier.notify(both);
      });
    }
    stage.start(bad);
    stage.start(good);
    stage.run_for(minutes(1));
    std::vector<std::pair<BootTime, DeliveryRef>> seen;
    for (const Seen& each : stage.seen_by("good")) seen.emplace_back(each.at, each.which);
    return seen;
  };
  const auto with = play(true);
  EXPECT_EQ(with.size(), 100U);
  EXPECT_EQ(with, play(false)) << "the same deliveries at the same times";
}

TEST_F(PushDispatcherTest, KeepsTheOrderOfALaneWhileItsHeadIsRetried) {
  const auto orders = stage_.destination("orders");
  std::vector<EventNo> events;
  for (int i = 0; i < 5; ++i) events.push_back(stage_.send({orders->no}, "customer-1"));
  stage_.transport.script = [](const Seen& seen) { return answer(seen.attempt < 3 ? 500 : 200); };
  stage_.start(orders);
  stage_.run_for(minutes(2));
  ASSERT_EQ(stage_.transport.seen.size(), 15U);
  for (std::size_t i = 0; i < 15; ++i) {
    EXPECT_EQ(stage_.transport.seen[i].which.event, events[i / 3]);
  }
}

TEST_F(PushDispatcherTest, ABlockedLaneWaitsForAnOperatorAndASkippedOneContinues) {
  const auto blocks = stage_.destination("blocks", [](Destination& to) {
    to.retry.clear();
    to.on_dead = OnDead::block;
  });
  const auto skips = stage_.destination("skips", [](Destination& to) { to.retry.clear(); });
  const EventNo poison = stage_.send({blocks->no, skips->no}, "k");
  const EventNo next = stage_.send({blocks->no, skips->no}, "k");
  bool fixed = false;
  stage_.transport.script = [&](const Seen& seen) {
    return answer(seen.which.event == poison && !fixed ? 400 : 200);
  };
  stage_.start(blocks);
  stage_.start(skips);
  stage_.run_for(minutes(1));
  EXPECT_EQ(stage_.row(next, 1).state, DeliveryState::completed);
  EXPECT_EQ(stage_.row(next, 0).state, DeliveryState::pending);
  fixed = true;
  static_cast<void>(stage_.memory.queue->replay({poison, DeliveryNo(1), {}}));
  stage_.run_for(seconds(5));
  EXPECT_EQ(stage_.row(poison, 0).state, DeliveryState::completed);
  EXPECT_EQ(stage_.row(next, 0).state, DeliveryState::completed);
}

TEST_F(PushDispatcherTest, ANotificationWakesItAtOnce) {
  const auto orders = stage_.destination("orders");
  stage_.start(orders);
  stage_.run_for(milliseconds(1300));
  const BootTime then = stage_.now();
  stage_.send({orders->no});
  stage_.notifier.notify(orders->no);
  stage_.run_for(milliseconds(1));
  ASSERT_EQ(stage_.transport.seen.size(), 1U);
  EXPECT_EQ(stage_.transport.seen[0].at, then);
}

TEST_F(PushDispatcherTest, WithoutANotificationItPollsOnceASecond) {
  const auto orders = stage_.destination("orders");
  stage_.start(orders);
  stage_.run_for(milliseconds(1300));
  stage_.send({orders->no});  // as if admitted by another node
  stage_.run_for(seconds(1));
  EXPECT_EQ(stage_.transport.seen.size(), 1U);
}

TEST_F(PushDispatcherTest, APausedDestinationGetsNothingUntilItIsResumed) {
  const auto orders = stage_.destination("orders");
  static_cast<void>(stage_.memory.catalog->pause(orders->no, true));
  stage_.send({orders->no});
  stage_.start(orders);
  stage_.run_for(minutes(1));
  EXPECT_TRUE(stage_.transport.seen.empty());
  static_cast<void>(stage_.memory.catalog->pause(orders->no, false));
  stage_.run_for(seconds(2));
  EXPECT_EQ(stage_.transport.seen.size(), 1U);
}

TEST_F(PushDispatcherTest, StoppingDrainsInFlightAttempts) {
  const auto orders = stage_.destination("orders", [](Destination& to) { to.concurrency = 2; });
  stage_.transport.script = [](const Seen&) { return Act{status(200), seconds(3)}; };
  std::vector<EventNo> events;
  for (int i = 0; i < 5; ++i) events.push_back(stage_.send({orders->no}));
  PushDispatcher& dispatcher = stage_.start(orders);
  stage_.run_for(seconds(1));
  dispatcher.stop(stage_.now() + seconds(10));
  stage_.run_for(seconds(3));
  EXPECT_EQ(stage_.running(), 0U) << "ends before the grace period";
  EXPECT_EQ(stage_.transport.seen.size(), 2U);
  for (std::size_t i = 0; i < events.size(); ++i) {
    const store::DeliveryRow row = stage_.row(events[i]);
    EXPECT_EQ(row.state, i < 2 ? DeliveryState::completed : DeliveryState::pending);
    EXPECT_EQ(row.attempts, 0U);
  }
}

TEST_F(PushDispatcherTest, StoppingReleasesHangingDeliveriesAndCostsNoAttempt) {
  const auto orders = stage_.destination("orders", [](Destination& to) { to.concurrency = 2; });
  stage_.transport.script = [](const Seen&) { return std::optional<Act>(); };
  std::vector<EventNo> events;
  for (int i = 0; i < 5; ++i) events.push_back(stage_.send({orders->no}));
  PushDispatcher& dispatcher = stage_.start(orders);
  stage_.run_for(seconds(1));
  dispatcher.stop(stage_.now() + seconds(2));
  stage_.run_for(milliseconds(2100));
  EXPECT_EQ(stage_.running(), 0U);
  for (const EventNo each : events) {
    EXPECT_EQ(stage_.row(each).state, DeliveryState::pending);
    EXPECT_EQ(stage_.row(each).attempts, 0U);
  }
  ASSERT_EQ(stage_.detail(events[0]).attempts.size(), 1U);
  EXPECT_EQ(stage_.detail(events[0]).attempts[0].outcome, AttemptOutcome::released);
  EXPECT_TRUE(stage_.row(events[0]).first_sent) << "a byte may have been sent";
  stage_.run_for(minutes(1));
  EXPECT_EQ(dispatcher.under_way(), 0U);
  EXPECT_EQ(stage_.transport.seen.size(), 2U);
}

TEST_F(PushDispatcherTest, TheNextProcessContinuesAtOnceWithTheSameKey) {
  const auto orders = stage_.destination("orders");
  stage_.transport.script = [](const Seen&) { return std::optional<Act>(); };
  const EventNo event = stage_.send({orders->no});
  PushDispatcher& dispatcher = stage_.start(orders);
  stage_.run_for(milliseconds(100));
  dispatcher.stop(stage_.now());
  stage_.run_for(milliseconds(100));
  stage_.transport.script = [](const Seen&) { return answer(200); };
  stage_.start(orders);
  stage_.run_for(milliseconds(100));
  EXPECT_EQ(stage_.row(event).state, DeliveryState::completed);
  ASSERT_EQ(stage_.transport.seen.size(), 2U);
  EXPECT_EQ(stage_.transport.seen[0].which, stage_.transport.seen[1].which);
  EXPECT_EQ(stage_.transport.seen[1].attempt, 1U);
}

TEST_F(PushDispatcherTest, AFailedSettlementIsRetriedUnchanged) {
  const auto orders = stage_.destination("orders");
  const EventNo event = stage_.send({orders->no});
  stage_.start(orders);
  int faults = 0;
  stage_.store_fault = [&] {
    if (stage_.transport.seen.empty() || faults >= 9) return Fault::none;
    constexpr std::array kFaults{Fault::fail, Fault::lose_request, Fault::lose_answer};
    return kFaults[static_cast<std::size_t>(faults++) % 3];
  };
  stage_.run_for(minutes(1));
  EXPECT_EQ(faults, 9);
  EXPECT_EQ(stage_.transport.seen.size(), 1U) << "the handler was called once";
  EXPECT_EQ(stage_.row(event).state, DeliveryState::completed);
  EXPECT_EQ(stage_.detail(event).attempts.size(), 1U);
  EXPECT_EQ(stage_.outcomes, std::vector<std::string>{"completed"});
}

TEST_F(PushDispatcherTest, AnUnavailableStoreIsPolledWithBackoff) {
  const auto orders = stage_.destination("orders");
  int calls = 0;
  stage_.store_fault = [&] {
    ++calls;
    return Fault::fail;
  };
  stage_.start(orders);
  stage_.run_for(minutes(2));
  EXPECT_LE(calls, 80);
  stage_.store_fault = {};
  stage_.send({orders->no});
  stage_.run_for(seconds(6));
  EXPECT_EQ(stage_.transport.seen.size(), 1U);
}

TEST_F(PushDispatcherTest, ALeaseThatArrivesTooLateIsReleasedUnused) {
  Stage slow({.least = seconds(2), .most = seconds(2)});
  const auto orders = slow.destination("orders", [](Destination& to) {
    to.timeout = seconds(5);
    to.lease = milliseconds(10'500);  // an attempt may begin only in its first half second
  });
  const EventNo event = slow.send({orders->no});
  slow.start(orders);
  slow.run_for(seconds(30));
  EXPECT_TRUE(slow.transport.seen.empty());
  EXPECT_EQ(slow.row(event).attempts, 0U);
  EXPECT_FALSE(slow.row(event).first_sent && slow.row(event).state == DeliveryState::pending)
      << "no byte was sent";
}

TEST_F(PushDispatcherTest, ALeaseKeepsTheSettingsItWasRequestedWithAcrossAReload) {
  Stage slow({.least = seconds(2), .most = seconds(2)});
  const auto orders = slow.destination("orders", [](Destination& to) {
    to.timeout = seconds(5);
    to.lease = seconds(15);
  });
  const EventNo event = slow.send({orders->no});
  PushDispatcher& dispatcher = slow.start(orders);
  slow.run_for(seconds(1));  // the lease request is in the store
  Destination patient = *orders;
  patient.timeout = seconds(60);
  patient.lease = seconds(70);
  dispatcher.change(std::make_shared<const Destination>(patient));
  slow.transport.script = [](const Seen&) { return std::nullopt; };
  slow.run_for(seconds(9));
  ASSERT_EQ(slow.transport.seen.size(), 1U);
  EXPECT_EQ(slow.row(event).attempts, 1U) << "timed out before the lease expired";
}

TEST_F(PushDispatcherTest, ADeadNodesLeaseExpiresWithoutCountingAnAttempt) {
  const auto orders = stage_.destination("orders");
  const EventNo event = stage_.send({orders->no});
  const store::LeaseRequest dead{.from = orders->no, .lease = seconds(30), .holder = {}};
  static_cast<void>(stage_.memory.queue->write({.lease = {&dead, 1}}));
  stage_.start(orders);
  stage_.run_for(seconds(29));
  EXPECT_TRUE(stage_.transport.seen.empty());
  stage_.run_for(seconds(3));
  ASSERT_EQ(stage_.transport.seen.size(), 1U);
  EXPECT_EQ(stage_.transport.seen[0].attempt, 1U);
  EXPECT_EQ(stage_.row(event).state, DeliveryState::completed);
}

TEST_F(PushDispatcherTest, ExpiredLeasesOfWorkersCountAsAbandons) {
  const auto pulled = stage_.destination("pulled");
  const EventNo event = stage_.send({pulled->no});
  const store::LeaseRequest worker{.from = pulled->no,
                                   .lease = seconds(30),
                                   .holder = {Holder::Kind::pull, 7},
                                   .max_abandons = 3};
  for (unsigned expired = 0; expired < 3; ++expired) {
    const store::Answers answers = stage_.memory.queue->write({.lease = {&worker, 1}});
    ASSERT_EQ(answers.lease->front().deliveries.size(), 1U);
    EXPECT_EQ(answers.lease->front().deliveries[0].abandons, expired);
    EXPECT_EQ(answers.lease->front().deliveries[0].attempt, 1U);
    stage_.run_for(seconds(31));
  }
  static_cast<void>(stage_.memory.queue->write({.lease = {&worker, 1}}));
  EXPECT_EQ(stage_.row(event).state, DeliveryState::dead);
  EXPECT_EQ(stage_.row(event).reason, EndReason::abandoned);
  EXPECT_EQ(stage_.row(event).attempts, 0U);
}

TEST_F(PushDispatcherTest, AReloadAppliesFromTheNextAttemptOn) {
  const auto orders = stage_.destination("orders", [](Destination& to) { to.concurrency = 1; });
  for (int i = 0; i < 40; ++i) stage_.send({orders->no});
  stage_.transport.script = [](const Seen&) { return Act{status(200), seconds(1)}; };
  PushDispatcher& dispatcher = stage_.start(orders);
  stage_.run_for(milliseconds(4500));
  EXPECT_EQ(stage_.transport.most_at_once["orders"], 1U);
  Destination wider = *orders;
  wider.concurrency = 4;
  dispatcher.change(std::make_shared<const Destination>(wider));
  stage_.run_for(seconds(3));
  EXPECT_EQ(stage_.transport.most_at_once["orders"], 4U);
  dispatcher.change(orders);
  stage_.run_for(seconds(3));
  stage_.transport.most_at_once.clear();
  stage_.run_for(seconds(5));
  EXPECT_EQ(stage_.transport.most_at_once["orders"], 1U);
}

}  // namespace

}  // namespace hapax::deliver
