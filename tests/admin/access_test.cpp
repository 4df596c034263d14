// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "admin/access.hpp"

#include <gtest/gtest.h>

namespace hapax::admin {
namespace {

using http::Refusal;

std::optional<Refusal> host(std::string_view value) {
  const Access access("secret", {"hapax.internal"});
  http::Head head;
  head.headers.push_back({"host", value});
  return access.check_host(head);
}

std::optional<Refusal> authorization(std::vector<std::string_view> values) {
  const Access access("secret", {});
  http::Head head;
  for (const std::string_view each : values) head.headers.push_back({"authorization", each});
  return access.check_token(head);
}

TEST(Access, TakesAddressesAndItsOwnNames) {
  for (const char* each :
       {"127.0.0.1", "127.0.0.1:8421", "10.1.2.3:1", "[::1]", "[::1]:8421", "[fe80::1]:80",
        "localhost", "LocalHost:9", "localhost.", "hapax.internal", "HAPAX.internal:8421"}) {
    EXPECT_EQ(host(each), std::nullopt) << each;
  }
}

TEST(Access, RefusesEveryOtherHost) {
  for (const char* each :
       {"", ":80", "evil.example", "evil.example:8421", "127.0.0.1.evil.example",
        "localhost.evil.example", "evil-localhost", "127.0.0.1:80x", "127.0.0.1:80:80", "::1",
        "[::1", "[evil]", "[127.0.0.1]", "127.1", "0x7f.0.0.1", "localhost:80@evil", "."}) {
    EXPECT_EQ(host(each), Refusal::host_unknown) << each;
  }
  EXPECT_EQ(Access("secret", {}).check_host({}), Refusal::host_unknown);
}

TEST(Access, TakesTheTokenAndNoOther) {
  EXPECT_EQ(authorization({"Bearer secret"}), std::nullopt);
  EXPECT_EQ(authorization({"bearer  secret"}), std::nullopt);
  for (const char* each : {"Bearer secret2", "Bearer secre", "Bearer SECRET", "Bearer secret "}) {
    EXPECT_EQ(authorization({each}), Refusal::token_invalid) << each;
  }
  for (const char* each : {"", "Bearer", "Bearer ", "Basic c2VjcmV0", "secret", "Bearersecret"}) {
    EXPECT_EQ(authorization({each}), Refusal::token_missing) << each;
  }
  EXPECT_EQ(authorization({}), Refusal::token_missing);
  EXPECT_EQ(authorization({"Bearer secret", "Bearer secret"}), Refusal::token_invalid);
}

}  // namespace
}  // namespace hapax::admin
