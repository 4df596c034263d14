// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "http/door.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace hapax::http {

namespace {

constexpr DoorLimits kLimits{
    .connections = 4, .connections_per_address = 3, .bytes = 100, .bytes_per_address = 60};

TEST(DoorTest, OneAddressCannotHaveAllConnections) {
  Door door(kLimits);
  std::vector<Door::Visit> visits;
  for (int i = 0; i < 3; ++i) visits.push_back(*door.enter(1));
  EXPECT_FALSE(door.enter(1));
  visits.push_back(*door.enter(2));
  EXPECT_FALSE(door.enter(3)) << "full for all";
  EXPECT_EQ(door.inside(), 4U);
  EXPECT_EQ(door.turned_away(), 2U);
  visits.clear();
  EXPECT_EQ(door.inside(), 0U);
  EXPECT_TRUE(door.enter(1));
}

TEST(DoorTest, OneAddressCannotHaveAllMemory) {
  Door door(kLimits);
  Door::Visit first = *door.enter(1);
  Door::Visit second = *door.enter(1);
  Door::Visit other = *door.enter(2);
  EXPECT_TRUE(first.hold(50));
  EXPECT_TRUE(first.hold(40)) << "it has more already";
  EXPECT_FALSE(second.hold(11)) << "60 is what an address may have";
  EXPECT_TRUE(second.hold(10));
  EXPECT_FALSE(other.hold(41)) << "100 is what there is";
  EXPECT_TRUE(other.hold(40));
  first.hold_nothing();
  EXPECT_TRUE(other.hold(60));
  { const Door::Visit gone = std::move(second); }
  EXPECT_TRUE(first.hold(40));
}

TEST(DoorTest, AnAddressOfIpv6IsItsNetwork) {
  const std::string network("\x20\x01\x0d\xb8\0\0\0\1", 8);
  const std::string one = network + std::string(8, '\1');
  const std::string another = network + std::string(8, '\2');
  const std::string elsewhere = std::string("\x20\x01\x0d\xb8\0\0\0\2", 8) + std::string(8, '\1');
  EXPECT_EQ(key_of_address(one), key_of_address(another));
  EXPECT_NE(key_of_address(one), key_of_address(elsewhere));
  const std::string v4("\x7f\0\0\1", 4);
  const std::string mapped = std::string("\0\0\0\0\0\0\0\0\0\0\xff\xff", 12) + v4;
  EXPECT_EQ(key_of_address(v4), key_of_address(mapped));
  EXPECT_NE(key_of_address(v4), key_of_address(std::string("\x7f\0\0\2", 4)));
}

}  // namespace

}  // namespace hapax::http
