// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "deliver/replay_once.hpp"

#include "deliver/by_hand.hpp"
#include "deliver/replays.hpp"
#include "store/memory/driver.hpp"
#include "support/faulty_driver.hpp"
#include "support/world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// Replay requests with a key on an unreliable store: repeating a request with the same key returns
// the first result and never replays twice.
namespace hapax::deliver {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using store::Replayed;
using store::fault::Fault;
using testing::ElementsAre;

class ReplayOnceTest : public testing::Test {
 protected:
  void make(std::int64_t number) { test::admit_one(inner_, number, source_, target_); }
  std::size_t settle_next(const Disposition& disposition) {
    return test::settle_due(inner_, target_.to, disposition);
  }
  Result<std::optional<Replayed>> replay(const store::Driver& driver, std::int64_t event,
                                         const std::string& key,
                                         store::ReplayAs as = store::ReplayAs::same) {
    const std::string asked = std::to_string(event);
    return replay_once({*driver.queue, *driver.catalog, *driver.node, clock_, random_},
                       {.event = EventNo(event), .how = {.as = as}},
                       request_key("event", key, asked, ""));
  }
  std::size_t deliveries(std::int64_t event) {
    return inner_.catalog->event(EventNo(event)).value().value->deliveries.size();
  }

  test::ManualClock clock_;
  test::SeededRandom random_{5};
  store::Driver inner_ = store::memory::make_driver(10'000, clock_);
  const SourceNo source_{inner_.catalog->number_of(store::NameKind::source, "demo").value()};
  const store::Target target_{
      DestinationNo(inner_.catalog->number_of(store::NameKind::destination, "work").value())};
};

// The n-th call and all later ones fail, as in a crash, for every fault and every n. The delivery
// is completed before the request is repeated; the result must still be the first one.
TEST_F(ReplayOnceTest, ARepeatedRequestFindsAnInterruptedReplay) {
  std::int64_t event = 0;
  for (const store::ReplayAs as : {store::ReplayAs::same, store::ReplayAs::as_new}) {
    for (const Fault fault : {Fault::fail, Fault::lose_answer, Fault::lose_request}) {
      for (int nth = 1, hit = 1; hit > 0; ++nth) {
        make(++event);
        settle_next(as == store::ReplayAs::same ? Disposition(Dead{}) : Disposition(Ack{}));
        int calls = 0;
        store::fault::FaultyDriver faulty(inner_, [&](std::string_view) {
          return ++calls == nth ? fault : calls > nth ? Fault::fail : Fault::none;
        });
        const std::string key = std::to_string(event);
        const auto cut = replay(faulty.driver(), event, key, as);
        hit = calls >= nth ? 1 : 0;
        std::size_t attempts = settle_next(Ack{});
        const auto answer = replay(inner_, event, key, as);
        ASSERT_TRUE(answer && *answer) << nth;
        attempts += settle_next(Ack{});
        const DeliveryNo going(as == store::ReplayAs::same ? 1 : 2);
        EXPECT_EQ((*answer)->status, Replayed::Status::done) << nth;
        EXPECT_THAT((*answer)->deliveries, ElementsAre(going)) << nth;
        EXPECT_EQ(attempts, 1U) << "must be delivered exactly once: " << nth;
        if (cut) {
          EXPECT_EQ((*cut)->deliveries, (*answer)->deliveries) << nth;
        }
      }
    }
  }
  EXPECT_GT(event, 30);
}

TEST_F(ReplayOnceTest, AKeyIsForOneRequest) {
  make(1);
  make(2);
  settle_next(Dead{});
  EXPECT_TRUE(replay(inner_, 1, "k").value());
  EXPECT_FALSE(replay(inner_, 2, "k").value());
  EXPECT_EQ(settle_next(Ack{}), 1U);
}

TEST_F(ReplayOnceTest, AResultIsKeptForAWeek) {
  make(1);
  settle_next(Dead{});
  EXPECT_TRUE(replay(inner_, 1, "k").value());
  settle_next(Ack{});
  clock_.advance(kKeepReplayNote - hours(1));
  EXPECT_TRUE(replay(inner_, 2, "another").value());
  EXPECT_EQ(replay(inner_, 1, "k").value()->status, Replayed::Status::done);
  clock_.advance(hours(1));
  EXPECT_TRUE(replay(inner_, 2, "another").value());
  EXPECT_EQ(replay(inner_, 1, "k").value()->status, Replayed::Status::not_replayable);
}

// The limit is that of the store's records. A request whose note was evicted must not replay twice.
TEST_F(ReplayOnceTest, TheOldestResultsAreEvicted) {
  make(1);
  settle_next(Ack{});
  for (std::size_t i = 0; i <= kMaxReplayNotes; ++i) {
    clock_.advance(seconds(1));
    ASSERT_TRUE(replay(inner_, 1, "k" + std::to_string(i), store::ReplayAs::as_new).value());
    settle_next(Ack{});
  }
  EXPECT_EQ(inner_.node->records("replayed/").value().size(), kMaxReplayNotes);
  const std::size_t before = deliveries(1);
  EXPECT_THAT(replay(inner_, 1, "k0", store::ReplayAs::as_new).value()->deliveries,
              ElementsAre(DeliveryNo(2)));
  EXPECT_EQ(deliveries(1), before);
}

TEST_F(ReplayOnceTest, AJobWithALostResponseIsFoundAgain) {
  make(1);
  settle_next(Ack{});
  test::SilentLog log;
  DeliveryNotifier notifier;
  const RequestKey key = request_key("many", "k", "", "all");
  for (int nth = 1, hit = 1; hit > 0; ++nth) {
    int calls = 0;
    store::fault::FaultyDriver faulty(inner_, [&](std::string_view) {
      return ++calls == nth ? Fault::lose_answer : calls > nth ? Fault::fail : Fault::none;
    });
    Replays cut({faulty, faulty, faulty, clock_, random_, notifier, log, true});  // never started
    const auto first = cut.begin_once({}, key);
    hit = calls >= nth ? 1 : 0;
    Replays replays(
        {*inner_.queue, *inner_.catalog, *inner_.node, clock_, random_, notifier, log, true});
    const auto again = replays.begin_once({}, key);
    ASSERT_TRUE(again && *again) << nth;
    EXPECT_EQ((*again)->how.no, key.no);
    EXPECT_EQ(replays.all().value().size(), 1U);
    EXPECT_FALSE(replays.begin_once({}, request_key("many", "k", "", "other")).value());
    if (hit > 0) {
      const store::Record record = inner_.node->records("replay/").value().at(0);
      ASSERT_TRUE(inner_.node->remove_record(record.name, record.version).value());
    }
  }
}

TEST(RequestKeyTest, NamesTheKeyAndDigestsTheRequest) {
  const RequestKey key = request_key("many", "k", "", "body");
  EXPECT_GT(key.no.value(), 0);
  EXPECT_EQ(key.no, request_key("many", "k", "", "other").no);
  EXPECT_NE(key.request, request_key("many", "k", "", "other").request);
  EXPECT_NE(key.no, request_key("event", "k", "", "body").no);
  EXPECT_NE(key.no, request_key("many", "k2", "", "body").no);
  EXPECT_NE(request_key("event", "k", "ab", "c").request,
            request_key("event", "k", "a", "bc").request);
}

}  // namespace
}  // namespace hapax::deliver
