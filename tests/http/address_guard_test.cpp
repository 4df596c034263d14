// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "http/address_guard.hpp"

#include <gtest/gtest.h>

namespace hapax::http {
namespace {

bool reachable(const char* text) {
  return is_public(boost::asio::ip::make_address(text));
}

TEST(AddressGuard, AllowsPublicAddresses) {
  for (const char* text :
       {"1.1.1.1", "8.8.8.8", "172.15.255.255", "172.32.0.1", "100.63.255.255", "100.128.0.1",
        "169.253.1.1", "192.167.1.1", "223.255.255.255", "2606:4700:4700::1111", "2a00:1450::1",
        "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1"}) {
    EXPECT_TRUE(reachable(text)) << text;
  }
}

TEST(AddressGuard, RejectsLocalAndReservedAddressesInAnyForm) {
  for (const char* text : {"127.0.0.1",
                           "127.255.255.255",
                           "0.0.0.0",
                           "10.0.0.1",
                           "172.16.0.1",
                           "172.31.255.255",
                           "192.168.1.1",
                           "100.64.0.1",
                           "100.127.255.255",
                           "169.254.169.254",
                           "192.0.0.192",
                           "224.0.0.1",
                           "255.255.255.255",
                           "::",
                           "::1",
                           "fe80::1",
                           "febf::1",
                           "fc00::1",
                           "fd00:ec2::254",
                           "fec0::1",
                           "ff02::1",
                           "::ffff:10.0.0.1",
                           "::ffff:127.0.0.1",
                           "::ffff:169.254.169.254",
                           "::127.0.0.1",
                           "64:ff9b::a00:1",
                           "64:ff9b:1::1",
                           "2002:a00:1::",
                           "2001::1",
                           "2001:db8::1",
                           "::ffff:0:127.0.0.1"}) {
    EXPECT_FALSE(reachable(text)) << text;
  }
}

}  // namespace
}  // namespace hapax::http
