// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/snapshot.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace hapax {
namespace {

TEST(Snapshot, BeginsWithTheGivenVersion) {
  EXPECT_EQ(Snapshot<int>().current(), nullptr);
  EXPECT_EQ(*Snapshot<int>(std::make_shared<int>(1)).current(), 1);
}

TEST(Snapshot, AReaderKeepsItsVersion) {
  Snapshot<int> snapshot(std::make_shared<int>(1));
  const std::shared_ptr<const int> before = snapshot.current();
  for (int i = 2; i <= 500; ++i) snapshot.publish(std::make_shared<int>(i));
  EXPECT_EQ(*before, 1);
  EXPECT_EQ(*snapshot.current(), 500);
}

TEST(Snapshot, AVersionEndsWithItsLastReader) {
  Snapshot<int> snapshot(std::make_shared<int>(1));
  const std::weak_ptr<const int> first = snapshot.current();
  std::shared_ptr<const int> reader = snapshot.current();
  snapshot.publish(std::make_shared<int>(2));
  EXPECT_FALSE(first.expired());
  reader.reset();
  EXPECT_TRUE(first.expired());
}

TEST(Snapshot, IsReadWhileOthersPublish) {
  Snapshot<int> snapshot(std::make_shared<int>(0));
  std::atomic<bool> done = false;
  std::thread publisher([&] {
    for (int i = 1; i <= 1000; ++i) snapshot.publish(std::make_shared<int>(i));
    done = true;
  });
  for (int last = 0; !done;) {
    const int now = *snapshot.current();
    EXPECT_GE(now, last);
    last = now;
  }
  publisher.join();
}

}  // namespace
}  // namespace hapax
