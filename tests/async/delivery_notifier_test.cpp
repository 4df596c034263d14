// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "async/delivery_notifier.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>

// A subscription is woken at most once per arm(), and only for its own destination.
namespace hapax {

namespace {

constexpr DestinationNo kOrders{1};
constexpr DestinationNo kMail{2};

TEST(DeliveryNotifier, WakesOncePerArm) {
  DeliveryNotifier notifier;
  int woken = 0;
  DeliveryNotifier::Subscription subscription(notifier, kOrders, [&] { ++woken; });
  notifier.notify(kOrders);
  EXPECT_EQ(woken, 0) << "the subscription is not armed";
  subscription.arm();
  subscription.arm();
  notifier.notify(kOrders);
  notifier.notify(kOrders);
  EXPECT_EQ(woken, 1);
  subscription.arm();
  notifier.notify(kOrders);
  EXPECT_EQ(woken, 2);
}

TEST(DeliveryNotifier, WakesOnlySubscriptionsOfTheDestination) {
  DeliveryNotifier notifier;
  int orders = 0;
  int mail = 0;
  DeliveryNotifier::Subscription first(notifier, kOrders, [&] { ++orders; });
  DeliveryNotifier::Subscription second(notifier, kOrders, [&] { ++orders; });
  DeliveryNotifier::Subscription other(notifier, kMail, [&] { ++mail; });
  for (DeliveryNotifier::Subscription* each : {&first, &second, &other}) each->arm();
  const std::array<store::Target, 1> targets{{{kOrders}}};
  notifier.notify(targets);
  EXPECT_EQ(orders, 2);
  EXPECT_EQ(mail, 0);
  notifier.notify(kMail);
  EXPECT_EQ(mail, 1);
}

TEST(DeliveryNotifier, ADestroyedSubscriptionIsNotWoken) {
  DeliveryNotifier notifier;
  int woken = 0;
  auto gone =
      std::make_unique<DeliveryNotifier::Subscription>(notifier, kOrders, [&] { woken += 100; });
  gone->arm();
  gone.reset();
  DeliveryNotifier::Subscription here(notifier, kOrders, [&] { ++woken; });
  here.arm();
  notifier.notify(kOrders);
  EXPECT_EQ(woken, 1);
}

}  // namespace

}  // namespace hapax
