// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "deliver/replays.hpp"

#include "deliver/by_hand.hpp"
#include "store/memory/driver.hpp"
#include "support/eventually.hpp"
#include "support/faulty_driver.hpp"
#include "support/world.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>

// Bulk replays on an unreliable store, by one or several nodes: every event is replayed exactly
// once. Steps and leases use a manual clock.
namespace hapax::deliver {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using store::fault::Fault;

constexpr int kEvents = 60;

class ReplaysTest : public testing::Test {
 protected:
  ReplaysTest() {
    for (std::int64_t i = 1; i <= kEvents; ++i) admit(i);
    complete_all();
  }

  void admit(std::int64_t number) { test::admit_one(inner_, number, source_, target_); }
  void complete_all() { test::settle_due(inner_, target_.to, Ack{}); }

  Replays::Deps deps(const store::Driver& driver, bool alone = false) {
    return {*driver.queue, *driver.catalog, *driver.node, clock_, random_, notifier_, log_, alone};
  }
  std::unique_ptr<Replays> make(const store::Driver& driver, bool alone = false) {
    auto made = std::make_unique<Replays>(deps(driver, alone));
    made->start();
    return made;
  }
  static ReplayJob all_as_new(unsigned rate) {
    ReplayJob job;
    job.how.as = store::ReplayAs::as_new;
    job.rate = rate;
    return job;
  }
  // Advances the clock meanwhile.
  void wait_until_ended(Replays& asked, ReplayNo number) {
    EXPECT_TRUE(test::eventually([&] {
      clock_.advance(milliseconds(100));
      const auto job = asked.find(number);
      return job && *job && (*job)->ended;
    }));
  }
  std::vector<store::DeliveryRow> deliveries(std::int64_t event) {
    Result<store::Lookup<store::EventDetail>> found = inner_.catalog->event(EventNo(event));
    if (found && found->value) return std::move(found->value->deliveries);
    ADD_FAILURE() << "event " << event << " was not found";
    return {};
  }
  std::size_t replayed() {
    std::size_t count = 0;
    for (std::int64_t i = 1; i <= kEvents; ++i) count += deliveries(i).size() - 1;
    return count;
  }
  void expect_each_once() {
    for (std::int64_t i = 1; i <= kEvents; ++i) {
      const std::vector<store::DeliveryRow> rows = deliveries(i);
      ASSERT_EQ(rows.size(), 2U) << "event " << i;
      EXPECT_EQ(rows[1].replay_of, DeliveryNo(1));
    }
  }

  test::ManualClock clock_;
  test::SeededRandom random_{7};
  DeliveryNotifier notifier_;
  test::SilentLog log_;
  store::Driver inner_ = store::memory::make_driver(1000, clock_);
  const SourceNo source_{inner_.catalog->number_of(store::NameKind::source, "demo").value()};
  const store::Target target_{
      DestinationNo(inner_.catalog->number_of(store::NameKind::destination, "work").value())};
};

TEST_F(ReplaysTest, EveryEventIsReplayedOnceExceptLaterOnes) {
  ReplayJob job = all_as_new(kMaxReplayRate);
  {
    Replays idle(deps(inner_));  // never started
    job = idle.begin(job).value();
  }
  EXPECT_EQ(job.matched, std::uint64_t{kEvents});
  admit(kEvents + 1);
  complete_all();
  const auto replays = make(inner_);
  wait_until_ended(*replays, job.how.no);
  expect_each_once();
  EXPECT_EQ(deliveries(kEvents + 1).size(), 1U);
  const ReplayJob ended = replays->find(job.how.no).value().value();
  EXPECT_EQ(ended.state, ReplayJob::State::done);
  EXPECT_EQ(ended.events, std::uint64_t{kEvents});
  EXPECT_EQ(ended.deliveries, std::uint64_t{kEvents});
}

// Lost responses, lost requests and failures, in every step and in every write of the progress.
TEST_F(ReplaysTest, FaultsDoNotCauseASecondReplay) {
  test::SeededRandom chance(11);
  std::atomic<bool> calm = true;
  store::fault::FaultyDriver faulty(inner_, [&](std::string_view) {
    if (calm || chance.below(4) != 0) return Fault::none;
    return std::array{Fault::fail, Fault::lose_answer, Fault::lose_request}[chance.below(3)];
  });
  const auto replays = make(faulty.driver(), true);
  const ReplayJob job = replays->begin(all_as_new(40)).value();
  calm = false;
  wait_until_ended(*replays, job.how.no);
  expect_each_once();
}

TEST_F(ReplaysTest, AnotherNodeResumesWhereOneStopped) {
  auto first = make(inner_);
  const ReplayJob job = first->begin(all_as_new(40)).value();
  // The clock does not advance, so the replay runs its first step and no second one.
  ASSERT_TRUE(test::eventually([&] { return replayed() > 0; }));
  first.reset();  // stops, and releases the job
  const std::size_t half_way = replayed();
  EXPECT_LT(half_way, std::size_t{kEvents});
  const auto second = make(inner_);
  wait_until_ended(*second, job.how.no);
  expect_each_once();
}

TEST_F(ReplaysTest, AReplayOfADeadProcessIsTakenOverAfterItsLease) {
  ReplayJob job = all_as_new(kMaxReplayRate);
  {
    Replays idle(deps(inner_));  // never started
    job = idle.begin(job).value();
  }
  const store::Record record =
      inner_.node->record("replay/" + replay_text(job.how.no)).value().value();
  job.owner = "the dead one";
  constexpr std::chrono::hours kOwned{10'000};
  job.owned_until = clock_.wall() + kOwned;
  ASSERT_TRUE(
      inner_.node->put_record({record.name, 5, to_record_text(job)}, record.version).value());
  std::atomic<int> scans = 0;
  store::fault::FaultyDriver watched(inner_, [&](std::string_view operation) {
    if (operation == "records") ++scans;
    return Fault::none;
  });
  const auto next = make(watched.driver());
  ASSERT_TRUE(test::eventually([&] {
    clock_.advance(seconds(1));
    return scans >= 3;
  }));
  EXPECT_EQ(replayed(), 0U) << "the dead owner's lease has not expired";
  clock_.advance(kOwned);
  wait_until_ended(*next, job.how.no);
  EXPECT_GE(clock_.wall(), job.owned_until);
  expect_each_once();
}

TEST_F(ReplaysTest, TwoConcurrentOwnersReplayNothingTwice) {
  ReplayJob job = all_as_new(40);
  const auto one = make(inner_, true);  // both assume exclusive use of the store
  job = one->begin(job).value();
  const auto two = make(inner_, true);
  wait_until_ended(*one, job.how.no);
  expect_each_once();
}

TEST_F(ReplaysTest, RunningReplaysAreLimited) {
  Replays replays(deps(inner_));  // never started
  for (std::size_t i = 0; i < kMaxRunningReplays; ++i) ASSERT_TRUE(replays.begin(all_as_new(1)));
  const Result<ReplayJob> more = replays.begin(all_as_new(1));
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code(), Code::store_full);
  const std::vector<ReplayJob> all = replays.all().value();
  ASSERT_EQ(all.size(), kMaxRunningReplays);
  ASSERT_TRUE(replays.cancel(all.front().how.no).value());
  EXPECT_TRUE(replays.begin(all_as_new(1)));
}

TEST(ReplayJobTest, RoundTripsThroughItsRecord) {
  ReplayJob job;
  job.how = {store::ReplayAs::as_new, DestinationNo(3), true, ReplayNo(99)};
  job.source = SourceNo(7);
  job.tenant = "";
  job.id = "a\"\\\n\xc3\xa9";
  job.status = DeliveryState::dead;
  job.since = WallTime(seconds(5));
  job.rate = 12;
  job.last = EventNo(1000);
  job.after = EventNo(10);
  job.matched = 5;
  job.ended = WallTime(seconds(9));
  job.state = ReplayJob::State::cancelled;
  job.owner = "me";
  const std::string text = to_record_text(job);
  const std::optional<ReplayJob> read = job_from(text);
  ASSERT_TRUE(read);
  EXPECT_EQ(to_record_text(*read), text);
  EXPECT_EQ(read->id, job.id);
  EXPECT_EQ(read->tenant, "");
  EXPECT_EQ(read->type, std::nullopt);
  for (const char* bad : {"", "{}", "[]", "{\"no\":1}"}) EXPECT_FALSE(job_from(bad)) << bad;
}

// Nodes of two versions share a store during an upgrade, and a replay outlives its process.
TEST(ReplayJobTest, TheFormatOfItsRecordStays) {
  const std::string text =
      R"({"no":7,"source":3,"tenant":"acme","id":null,"type":null,"order_key":null,"status":3,)"
      R"("since":null,"until":1700000000000000,"as_new":true,"destination":5,)"
      R"("accept_duplicate":true,"rate":50,"request":"/v1/replay","last":90,"after":10,)"
      R"("matched":80,"events":8,"deliveries":6,"state":1,"started":1600000000000000,)"
      R"("ended":null,"owner":"node","owned_until":1600000001000000})";
  const std::optional<ReplayJob> job = job_from(text);
  ASSERT_TRUE(job);
  EXPECT_EQ(to_record_text(*job), text);
  EXPECT_EQ(job->how.no, ReplayNo(7));
  EXPECT_EQ(job->how.as, store::ReplayAs::as_new);
  EXPECT_EQ(job->how.destination, DestinationNo(5));
  EXPECT_TRUE(job->how.accept_duplicate);
  EXPECT_EQ(job->source, SourceNo(3));
  EXPECT_EQ(job->tenant, "acme");
  EXPECT_EQ(job->status, DeliveryState::dead);
  EXPECT_EQ(job->until, WallTime(seconds(1'700'000'000)));
  EXPECT_EQ(job->rate, 50U);
  EXPECT_EQ(job->last, EventNo(90));
  EXPECT_EQ(job->after, EventNo(10));
  EXPECT_EQ(job->state, ReplayJob::State::done);
  EXPECT_EQ(job->started, WallTime(seconds(1'600'000'000)));
  EXPECT_EQ(job->owner, "node");
}

TEST(ReplayJobTest, ItsIdIsParsedStrictly) {
  const ReplayNo number(0x0123456789abcdef);
  EXPECT_EQ(replay_text(number), "p0123456789abcdef");
  EXPECT_EQ(replay_from("p0123456789abcdef"), number);
  for (const char* bad : {"", "p", "p0000000000000000", "P0123456789abcdef", "p0123456789ABCDEF",
                          "p0123456789abcde", "pffffffffffffffff", "p+123456789abcdef"}) {
    EXPECT_FALSE(replay_from(bad)) << bad;
  }
}

}  // namespace
}  // namespace hapax::deliver
