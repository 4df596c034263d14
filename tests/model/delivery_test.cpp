// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "model/delivery.hpp"

#include <gtest/gtest.h>

namespace hapax {
namespace {

using enum DeliveryState;

TEST(DeliveryState, WorseReturnsTheWorseOfTwoStates) {
  const DeliveryState order[]{dead, leased, pending, cancelled, superseded, completed};
  for (std::size_t i = 0; i < std::size(order); ++i) {
    for (std::size_t j = i; j < std::size(order); ++j) {
      EXPECT_EQ(worse(order[i], order[j]), order[i]);
      EXPECT_EQ(worse(order[j], order[i]), order[i]);
    }
  }
}

}  // namespace
}  // namespace hapax
