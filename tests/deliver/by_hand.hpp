// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "base/sha256.hpp"
#include "env/log.hpp"
#include "store/driver.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

// Direct operations on a store, for tests without a server.
namespace hapax::test {

class SilentLog final : public Log {
 public:
  void line(Level, std::string_view, std::initializer_list<LogField>) override {}
};

// Admits an event whose id is its number as text.
inline void admit_one(const store::Driver& driver, std::int64_t number, SourceNo source,
                      const store::Target& target) {
  const std::string id = std::to_string(number);
  const store::Arrival arrival{.no = EventNo(number),
                               .source = source,
                               .key = id,
                               .id = id,
                               .digest = sha256(id),
                               .body = id,
                               .targets = std::span(&target, 1)};
  const store::Admit request{.arrivals = std::span(&arrival, 1)};
  EXPECT_TRUE(driver.queue->write({.admit = std::span(&request, 1)}).admit.at(0));
}

// Leases and settles up to 100 due deliveries; returns their number.
inline std::size_t settle_due(const store::Driver& driver, DestinationNo from,
                              const Disposition& disposition) {
  const store::LeaseRequest request{
      .from = from, .max = 100, .lease = std::chrono::seconds(30), .holder = {}};
  const store::Answers leased = driver.queue->write({.lease = std::span(&request, 1)});
  std::vector<store::Settlement> settlements;
  for (const store::Leased& each : leased.lease->at(0).deliveries) {
    settlements.push_back({{each.event.no, each.delivery}, each.fence, disposition});
  }
  EXPECT_TRUE(driver.queue->write({.settle = settlements}).settle);
  return settlements.size();
}

}  // namespace hapax::test
