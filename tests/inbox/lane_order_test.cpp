// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "inbox/many.hpp"

#include <charconv>
#include <mutex>
#include <thread>

namespace hapax::test {
namespace {

using namespace std::chrono_literals;

constexpr int kPerLane = 50;

int number_in(std::string_view text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// The handled deliveries of each lane, in order.
class Handled {
 public:
  explicit Handled(int lanes) : lanes_(static_cast<std::size_t>(lanes)) {}

  void note(int lane, int place) {
    const std::lock_guard lock(mutex_);
    lanes_[static_cast<std::size_t>(lane)].push_back(place);
    ++count_;
  }
  int count() const { return count_; }
  const std::vector<int>& of(int lane) const { return lanes_[static_cast<std::size_t>(lane)]; }

 private:
  std::mutex mutex_;
  std::atomic<int> count_ = 0;
  std::vector<std::vector<int>> lanes_;
};

// Handles its leases and returns some of them for a retry.
void work(const store::Driver& driver, Handled& handled, int total, std::uint64_t seed) {
  SeededRandom chance(seed);
  while (handled.count() < total) {
    for (const store::Leased& leased :
         lease(driver, 8, 1h, static_cast<std::int64_t>(seed)).deliveries) {
      if (chance.below(10) == 0) {
        settle(driver, leased, RetryIn{std::chrono::milliseconds(chance.below(3))});
        continue;
      }
      const std::string& id = leased.event.id;  // "LANE/PLACE"
      handled.note(number_in(id), number_in(id.substr(id.find('/') + 1)));
      EXPECT_EQ(settle(driver, leased, Ack{}), store::Settled::ok);
    }
  }
}

template <class Place>
class LaneOrder : public testing::Test {
 protected:
  Place place_;
};
TYPED_TEST_SUITE(LaneOrder, InboxStores, InboxStoreNames);

TYPED_TEST(LaneOrder, IsStrictForEightWorkersWithRandomRetries) {
  const int lanes = rounds(1000);
  std::vector<Wanted> events;
  for (int place = 0; place < kPerLane; ++place) {
    for (int lane = 0; lane < lanes; ++lane) {
      events.push_back({std::to_string(lane) + "/" + std::to_string(place), std::to_string(lane)});
    }
  }
  const auto opened = open_inbox(this->place_.url());
  admit_all(opened->driver, events);
  Handled handled(lanes);
  std::vector<std::thread> workers;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    workers.emplace_back([&, seed] { work(opened->driver, handled, lanes * kPerLane, seed); });
  }
  for (std::thread& worker : workers) worker.join();
  for (int lane = 0; lane < lanes; ++lane) {
    ASSERT_EQ(handled.of(lane).size(), static_cast<std::size_t>(kPerLane)) << "lane " << lane;
    for (int place = 0; place < kPerLane; ++place) {
      ASSERT_EQ(handled.of(lane)[static_cast<std::size_t>(place)], place) << "lane " << lane;
    }
  }
  EXPECT_EQ(unfinished(opened->driver), 0U);
}

}  // namespace
}  // namespace hapax::test
