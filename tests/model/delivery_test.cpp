// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "model/delivery.hpp"

#include <gtest/gtest.h>

namespace hapax {
namespace {

using enum DeliveryState;

TEST(DeliveryState, TheWorstOfSeveralDecides) {
  const DeliveryState order[]{dead, leased, pending, cancelled, superseded, completed};
  for (std::size_t i = 0; i < std::size(order); ++i) {
    for (std::size_t j = i; j < std::size(order); ++j) {
      EXPECT_EQ(worse(order[i], order[j]), order[i]);
      EXPECT_EQ(worse(order[j], order[i]), order[i]);
    }
  }
}

TEST(DeliveryState, NamesAreThoseOfTheDesign) {
  EXPECT_EQ(name(pending), "pending");
  EXPECT_EQ(name(leased), "leased");
  EXPECT_EQ(name(completed), "completed");
  EXPECT_EQ(name(dead), "dead");
  EXPECT_EQ(name(superseded), "superseded");
  EXPECT_EQ(name(cancelled), "cancelled");
  EXPECT_EQ(name(EndReason::none), "");
  EXPECT_EQ(name(EndReason::abandoned), "abandoned");
  EXPECT_EQ(name(EndReason::horizon), "horizon");
  EXPECT_EQ(name(EndReason::dropped), "dropped");
  EXPECT_EQ(name(Would::none), "");
  EXPECT_EQ(name(Would::reject), "reject");
  EXPECT_EQ(name(Would::duplicate), "duplicate");
  EXPECT_EQ(name(AttemptOutcome::completed), "completed");
  EXPECT_EQ(name(AttemptOutcome::released), "released");
}

}  // namespace
}  // namespace hapax
