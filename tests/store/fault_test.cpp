// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "support/faulty_driver.hpp"

#include "base/sha256.hpp"
#include "store/memory/driver.hpp"
#include "support/world.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

// A sender, a faulty store, and a worker whose handler honors the idempotency key. Each repeats
// calls with an unknown outcome, as the contract requires. In the end every event is stored once
// and was handled once.
namespace hapax::store::fault {
namespace {

using std::chrono::seconds;

constexpr int kEvents = 40;
constexpr seconds kLease{30};

// Random faults of every kind. A crash lasts until the store is restarted.
class Chance {
 public:
  explicit Chance(std::uint64_t seed) : random_(seed) {}

  Fault draw() {
    if (over_ || random_.below(3) != 0) return Fault::none;
    const auto fault = static_cast<Fault>(1 + random_.below(5));
    seen_.insert(fault);
    return fault;
  }
  std::uint64_t below(std::uint64_t bound) { return random_.below(bound); }
  void end() { over_ = true; }
  const std::set<Fault>& seen() const { return seen_; }

 private:
  test::SeededRandom random_;
  bool over_ = false;
  std::set<Fault> seen_;
};

class World {
 private:
  // Repeats a call until its outcome is known; restarts a crashed store in between.
  template <class Call>
  auto retry(Call call) {
    for (int tries = 0; tries < 1000; ++tries) {
      auto answer = call();
      if (answer) return std::move(answer).value();
      if (driver_.crashed()) driver_.restart();
    }
    ADD_FAILURE() << "the store never answers";
    return std::move(call()).value();
  }

 public:
  explicit World(std::uint64_t seed) : chance_(seed) {
    source_ = SourceNo(retry([&] { return driver_.number_of(NameKind::source, "x"); }));
    destination_ =
        DestinationNo(retry([&] { return driver_.number_of(NameKind::destination, "d"); }));
  }

  void run();
  void expect_everything_once();

 private:
  std::string id_of(std::int64_t no) const { return "event " + std::to_string(no); }
  void admit(std::int64_t no);
  std::vector<Leased> lease();
  void handle(const Leased& lease);

  Chance chance_;
  test::ManualClock clock_;
  Driver inner_ = memory::make_driver(1000, clock_);
  FaultyDriver driver_{inner_, [this](std::string_view) { return chance_.draw(); }};
  SourceNo source_;
  DestinationNo destination_;
  std::map<DeliveryRef, int> handled_;  // by key
  std::map<DeliveryRef, int> effects_;
};

// Uses the same event number for every repeat, as a sender must.
void World::admit(std::int64_t no) {
  const std::string id = id_of(no);
  const Target target{destination_};
  const Arrival arrival{.no = EventNo(no),
                        .source = source_,
                        .key = id,
                        .id = id,
                        .order_key = no % 3 == 0 ? "lane" : "",
                        .digest = sha256(id),
                        .body = id,
                        .targets = std::span(&target, 1)};
  const Admit request{.arrivals = std::span(&arrival, 1)};
  const std::vector<Admission> answer =
      retry([&] { return driver_.write({.admit = std::span(&request, 1)}).admit.at(0); });
  EXPECT_EQ(answer.at(0), (Admission{Admission::Kind::fresh, EventNo(no)}));
}

// A lease whose answer was lost expires; the call is not repeated.
std::vector<Leased> World::lease() {
  const LeaseRequest request{.from = destination_, .max = 3, .lease = kLease, .holder = {}};
  Result<std::vector<Lease>> answer = driver_.write({.lease = std::span(&request, 1)}).lease;
  if (driver_.crashed()) driver_.restart();
  return answer ? std::move(answer->at(0).deliveries) : std::vector<Leased>();
}

void World::handle(const Leased& lease) {
  const DeliveryRef key{lease.event.no, lease.delivery};
  if (handled_[key]++ == 0) ++effects_[key];
  const bool fails = chance_.below(5) == 0;
  const Settlement settlement{
      .which = key,
      .fence = lease.fence,
      .disposition = fails ? Disposition(RetryIn{seconds(1)}) : Disposition(Ack{})};
  const std::vector<Settled> answer =
      retry([&] { return driver_.write({.settle = std::span(&settlement, 1)}).settle; });
  EXPECT_EQ(answer.at(0), Settled::ok) << "no other holder had the lease";
}

void World::run() {
  std::int64_t no = 0;
  for (int round = 0; round < 2000; ++round) {
    if (no < kEvents) admit(++no);
    for (const Leased& each : lease()) handle(each);
    clock_.advance(kLease);
    const Result<Stats> stats = inner_.catalog->stats();
    if (no == kEvents && stats->destinations.empty()) return;
  }
  ADD_FAILURE() << "the deliveries never finish";
}

void World::expect_everything_once() {
  chance_.end();
  const Result<EventPage> events = driver_.events({.limit = 1000});
  ASSERT_TRUE(events) << events.error().to_string();
  EXPECT_EQ(events->events.size(), static_cast<std::size_t>(kEvents));
  for (const EventRow& each : events->events) {
    const Lookup<EventDetail> found = driver_.event(each.no).value();
    ASSERT_TRUE(found.value);
    ASSERT_EQ(found.value->deliveries.size(), 1U) << each.id;
    EXPECT_EQ(found.value->deliveries[0].state, DeliveryState::completed) << each.id;
    int completed = 0;
    for (const Attempt& attempt : found.value->attempts) {
      completed += attempt.outcome == AttemptOutcome::completed ? 1 : 0;
    }
    EXPECT_EQ(completed, 1) << each.id;
    EXPECT_EQ((effects_[{each.no, DeliveryNo(1)}]), 1) << each.id;
  }
  EXPECT_EQ(chance_.seen().size(), 5U) << "every kind of fault occurred";
}

TEST(FaultyDriver, LosesNothingWhenCallersRetryUnknownOutcomes) {
  const int seeds = test::rounds(500);
  for (int seed = 1; seed <= seeds && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    World world(static_cast<std::uint64_t>(seed));
    world.run();
    world.expect_everything_once();
  }
}

class OneFault : public testing::Test {
 protected:
  Result<std::int64_t> call(Fault fault) {
    fault_ = fault;
    Result<std::int64_t> answer = driver_.number_of(NameKind::source, "x");
    fault_ = Fault::none;
    return answer;
  }
  bool happened() { return !inner_.catalog->names(NameKind::source).value().empty(); }

  test::ManualClock clock_;
  Driver inner_ = memory::make_driver(1000, clock_);
  Fault fault_ = Fault::none;
  FaultyDriver driver_{inner_, [this](std::string_view) { return fault_; }};
};

TEST_F(OneFault, ThatFailsDoesNotHappen) {
  EXPECT_EQ(call(Fault::fail).error().outcome(), Outcome::did_not_happen);
  EXPECT_FALSE(happened());
}

TEST_F(OneFault, ThatLosesTheAnswerHappensAndIsUnknown) {
  EXPECT_EQ(call(Fault::lose_answer).error().outcome(), Outcome::unknown);
  EXPECT_TRUE(happened());
}

TEST_F(OneFault, ThatLosesTheRequestDoesNotHappenAndIsUnknown) {
  EXPECT_EQ(call(Fault::lose_request).error().outcome(), Outcome::unknown);
  EXPECT_FALSE(happened());
}

TEST_F(OneFault, ThatCrashesLastsUntilTheRestart) {
  EXPECT_EQ(call(Fault::crash_before).error().outcome(), Outcome::did_not_happen);
  EXPECT_FALSE(call(Fault::none));
  EXPECT_FALSE(happened());
  driver_.restart();
  EXPECT_TRUE(call(Fault::none));
}

TEST_F(OneFault, ThatCrashesAfterwardsHasHappened) {
  EXPECT_EQ(call(Fault::crash_after).error().outcome(), Outcome::unknown);
  EXPECT_TRUE(driver_.crashed());
  EXPECT_TRUE(happened());
}

}  // namespace
}  // namespace hapax::store::fault
