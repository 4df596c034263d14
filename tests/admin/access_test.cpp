// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "admin/access.hpp"

#include "admin/routes.hpp"

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
  const auto caller = access.caller(head);
  const Refusal* const why = std::get_if<Refusal>(&caller);
  return why == nullptr ? std::nullopt : std::optional(*why);
}

TEST(Access, AcceptsAddressesAndConfiguredNames) {
  for (const char* each :
       {"127.0.0.1", "127.0.0.1:8421", "10.1.2.3:1", "[::1]", "[::1]:8421", "[fe80::1]:80",
        "localhost", "LocalHost:9", "localhost.", "hapax.internal", "HAPAX.internal:8421"}) {
    EXPECT_EQ(host(each), std::nullopt) << each;
  }
}

TEST(Access, RejectsEveryOtherHost) {
  for (const char* each :
       {"", ":80", "evil.example", "evil.example:8421", "127.0.0.1.evil.example",
        "localhost.evil.example", "evil-localhost", "127.0.0.1:80x", "127.0.0.1:80:80", "::1",
        "[::1", "[evil]", "[127.0.0.1]", "127.1", "0x7f.0.0.1", "localhost:80@evil", "."}) {
    EXPECT_EQ(host(each), Refusal::host_unknown) << each;
  }
  EXPECT_EQ(Access("secret", {}).check_host({}), Refusal::host_unknown);
}

TEST(Access, AcceptsOnlyTheConfiguredToken) {
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

const Rights* caller(const Access& access, const std::string& token) {
  const std::string value = "Bearer " + token;
  http::Head head;
  head.headers.push_back({"Authorization", value});
  const auto caller = access.caller(head);
  return std::holds_alternative<Refusal>(caller) ? nullptr : std::get<const Rights*>(caller);
}

TEST(Access, GivesEachTokenItsOwnRights) {
  const std::vector<ScopedToken> scoped{
      {"worker", "one", {{Right::lease, "audit"}, {Right::settle, "audit"}}},
      {"reader", "two", {{Right::read}, {Right::dedup, "mail"}}}};
  const Access access("secret", {}, scoped);
  const Rights* const admin = caller(access, "secret");
  ASSERT_NE(admin, nullptr);
  EXPECT_TRUE(admin->all());
  EXPECT_TRUE(admin->may(Right::admin, "") && admin->may(Right::lease, "whatever"));

  const Rights* const worker = caller(access, "one");
  ASSERT_NE(worker, nullptr);
  EXPECT_FALSE(worker->all());
  EXPECT_TRUE(worker->may(Right::lease, "audit") && worker->may(Right::settle, "audit"));
  EXPECT_TRUE(worker->may_some(Right::lease));
  for (const char* each : {"", "audi", "audit2", "AUDIT", "orders"}) {
    EXPECT_FALSE(worker->may(Right::lease, each)) << each;
    EXPECT_FALSE(worker->may(Right::settle, each)) << each;
  }
  EXPECT_FALSE(worker->may_some(Right::read) || worker->may_some(Right::admin));

  const Rights* const reader = caller(access, "two");
  ASSERT_NE(reader, nullptr);
  EXPECT_TRUE(reader->may(Right::read, "") && reader->may(Right::dedup, "mail"));
  EXPECT_FALSE(reader->may(Right::dedup, "post") || reader->may_some(Right::lease));
  EXPECT_EQ(caller(access, "three"), nullptr);
  EXPECT_EQ(caller(access, "worker"), nullptr) << "a token's name must not authenticate";
}

// Every route that changes state names its right in the table of routes, so that no token has
// access by accident.
TEST(Access, EveryRouteThatChangesStateNamesItsRight) {
  for (const Route& each : routes()) {
    if (!each.token || each.method == "GET") continue;
    EXPECT_NE(each.right, Right::unsaid) << each.method << " " << each.pattern;
    EXPECT_NE(each.right, Right::read) << each.method << " " << each.pattern;
  }
}

}  // namespace
}  // namespace hapax::admin
