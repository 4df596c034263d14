// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "base/hex.hpp"
#include "store/driver.hpp"
#include "support/postgres.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

// What a test needs to be refused: a user with few rights, and the check of what he is told.
namespace hapax::test {

// In every URL of these tests, and in no error.
inline constexpr std::string_view kPassword = "hunter2-swordfish";

inline void expect_no_password(const Error& error) {
  EXPECT_EQ(error.to_string().find(kPassword), std::string::npos) << error.to_string();
}

// The error has the code, names the cause and the remedy, and shows no password.
inline void expect_refusal(const Error& error, Code code, std::string_view cause,
                           std::string_view remedy) {
  EXPECT_EQ(error.code(), code) << error.to_string();
  EXPECT_EQ(error.outcome(), Outcome::did_not_happen) << error.to_string();
  EXPECT_NE(error.detail().find(cause), std::string::npos) << error.detail();
  EXPECT_NE(error.detail().find(remedy), std::string::npos) << error.detail();
  expect_no_password(error);
}

// ... by open() and by migrate(), which go different ways to the server.
inline void expect_refused(const std::string& url, Code code, std::string_view cause,
                           std::string_view remedy) {
  const Result<Store> store = open(url);
  ASSERT_FALSE(store) << "it was opened";
  expect_refusal(store.error(), code, cause, remedy);
  const Result<int> version = migrate(url);
  ASSERT_FALSE(version) << "it was migrated";
  expect_refusal(version.error(), code, cause, remedy);
}

// A user of the server of tools/with_postgres who may log in and nothing else. Declare it before
// the databases in which it gets rights: they must be gone when it goes.
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
