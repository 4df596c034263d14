// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "commit/bells.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>

// Who listens is woken once for each time he armed, for his own destination, by whoever rings.
namespace hapax {

namespace {

constexpr DestinationNo kOrders{1};
constexpr DestinationNo kMail{2};

TEST(Bells, WakeOnceForEachArm) {
  Bells bells;
  int woken = 0;
  Bells::Ear ear(bells, kOrders, [&] { ++woken; });
  bells.ring(kOrders);
  EXPECT_EQ(woken, 0) << "nobody has armed it";
  ear.arm();
  ear.arm();
  bells.ring(kOrders);
  bells.ring(kOrders);
  EXPECT_EQ(woken, 1);
  ear.arm();
  bells.ring(kOrders);
  EXPECT_EQ(woken, 2);
}

TEST(Bells, WakeThoseOfTheDestinationOnlyAndAllOfThem) {
  Bells bells;
  int orders = 0;
  int mail = 0;
  Bells::Ear first(bells, kOrders, [&] { ++orders; });
  Bells::Ear second(bells, kOrders, [&] { ++orders; });
  Bells::Ear other(bells, kMail, [&] { ++mail; });
  for (Bells::Ear* each : {&first, &second, &other}) each->arm();
  const std::array<store::Target, 1> targets{{{kOrders}}};
  bells.ring(targets);
  EXPECT_EQ(orders, 2);
  EXPECT_EQ(mail, 0);
  bells.ring(kMail);
  EXPECT_EQ(mail, 1);
}

TEST(Bells, AnEarThatIsGoneIsNotWoken) {
  Bells bells;
  int woken = 0;
  auto gone = std::make_unique<Bells::Ear>(bells, kOrders, [&] { woken += 100; });
  gone->arm();
  gone.reset();
  Bells::Ear here(bells, kOrders, [&] { ++woken; });
  here.arm();
  bells.ring(kOrders);
  EXPECT_EQ(woken, 1);
}

}  // namespace

}  // namespace hapax
