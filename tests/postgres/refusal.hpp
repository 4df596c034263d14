// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "base/hex.hpp"
#include "store/driver.hpp"
#include "support/postgres.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

// Helpers for tests of refused connections: a user with few privileges, and checks of the error.
namespace hapax::test {

// Part of every URL in these tests; must not appear in any error.
inline constexpr std::string_view kPassword = "hunter2-swordfish";

inline void expect_no_password(const Error& error) {
  EXPECT_EQ(error.to_string().find(kPassword), std::string::npos) << error.to_string();
}

// Expects the error to have the code, name the cause and the remedy, and show no password.
inline void expect_refusal(const Error& error, Code code, std::string_view cause,
                           std::string_view remedy) {
  EXPECT_EQ(error.code(), code) << error.to_string();
  EXPECT_EQ(error.outcome(), Outcome::did_not_happen) << error.to_string();
  EXPECT_NE(error.detail().find(cause), std::string::npos) << error.detail();
  EXPECT_NE(error.detail().find(remedy), std::string::npos) << error.detail();
  expect_no_password(error);
}

// Expects this refusal from open() and from migrate(), which connect in different ways.
inline void expect_refused(const std::string& url, Code code, std::string_view cause,
                           std::string_view remedy) {
  const Result<Store> store = open(url);
  ASSERT_FALSE(store) << "it was opened";
  expect_refusal(store.error(), code, cause, remedy);
  const Result<int> version = migrate(url);
  ASSERT_FALSE(version) << "it was migrated";
  expect_refusal(version.error(), code, cause, remedy);
}

// A user of tools/with_postgres's server who may only log in. Declare it before the databases in
// which it gets privileges: they must be dropped first.
class Role {
 public:
  Role() { ask_server("CREATE ROLE " + name_ + " LOGIN"); }
  ~Role() { ask_server("DROP ROLE " + name_); }
  Role(const Role&) = delete;
  Role& operator=(const Role&) = delete;

  const std::string& name() const { return name_; }
  std::string url(const PostgresDatabase& database) const {
    return "postgres://" + name_ + ":" + std::string(kPassword) + "@/" + database.name() +
           "?host=" + postgres_directory();
  }

 private:
  std::string name_ = "role_" + to_hex(store::view(make_token()));
};

}  // namespace hapax::test
