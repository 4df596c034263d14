// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "http/connection_limiter.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace hapax::http {

namespace {

constexpr ConnectionLimits kLimits{
    .connections = 4, .connections_per_address = 3, .bytes = 100, .bytes_per_address = 60};

TEST(ConnectionLimiterTest, OneAddressCannotUseAllConnections) {
  ConnectionLimiter limiter(kLimits);
  std::vector<ConnectionLimiter::Permit> permits;
  for (int i = 0; i < 3; ++i) permits.push_back(*limiter.try_acquire(1));
  EXPECT_FALSE(limiter.try_acquire(1));
  permits.push_back(*limiter.try_acquire(2));
  EXPECT_FALSE(limiter.try_acquire(3)) << "the total limit is reached";
  EXPECT_EQ(limiter.active(), 4U);
  EXPECT_EQ(limiter.rejected(), 2U);
  permits.clear();
  EXPECT_EQ(limiter.active(), 0U);
  EXPECT_TRUE(limiter.try_acquire(1));
}

TEST(ConnectionLimiterTest, OneAddressCannotUseAllMemory) {
  ConnectionLimiter limiter(kLimits);
  ConnectionLimiter::Permit first = *limiter.try_acquire(1);
  ConnectionLimiter::Permit second = *limiter.try_acquire(1);
  ConnectionLimiter::Permit other = *limiter.try_acquire(2);
  EXPECT_TRUE(first.try_reserve(50));
  EXPECT_TRUE(first.try_reserve(40)) << "it has reserved more already";
  EXPECT_FALSE(second.try_reserve(11)) << "the limit of an address is 60";
  EXPECT_TRUE(second.try_reserve(10));
  EXPECT_FALSE(other.try_reserve(41)) << "the total limit is 100";
  EXPECT_TRUE(other.try_reserve(40));
  first.release_bytes();
  EXPECT_TRUE(other.try_reserve(60));
  { const ConnectionLimiter::Permit gone = std::move(second); }
  EXPECT_TRUE(first.try_reserve(40));
}

TEST(ConnectionLimiterTest, Ipv6AddressesAreLimitedPerNetwork) {
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
