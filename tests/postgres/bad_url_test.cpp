// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "postgres/refusal.hpp"

namespace hapax::test {
namespace {

std::string with_password(const std::string& before, const std::string& after) {
  return before + std::string(kPassword) + after;
}

void expect_unreadable(const std::string& url) {
  expect_refused(url, Code::misconfigured, "cannot read the PostgreSQL URL", "as %XX");
}

TEST(PostgresBadUrl, BrokenPercentEncodingIsRefusedWithoutShowingThePassword) {
  expect_unreadable(with_password("postgres://user:%zz", "@localhost/db"));
  expect_unreadable(with_password("postgres://user:", "%@localhost/db"));
  expect_unreadable(with_password("postgres://user:", "@localhost/%0"));
  expect_unreadable(with_password("postgres://user:", "@localhost/db%00"));
}

TEST(PostgresBadUrl, AnUnknownParameterIsRefused) {
  expect_unreadable(with_password("postgres://user:", "@localhost/db?colour=green"));
  expect_unreadable(with_password("postgres://user@localhost/db?passwd=", ""));
}

TEST(PostgresBadUrl, AnUnbalancedBracketIsRefused) {
  expect_unreadable(with_password("postgres://user:", "@[::1/db"));
}

// Without a host libpq uses its default socket, and the error names it.
TEST(PostgresBadUrl, AnEmptyHostListUsesTheDefaultSocketAndTheErrorNamesIt) {
  for (const char* host : {"@/db", "@,/db", "@/db?host="}) {
    expect_refused(with_password("postgres://user:", host), Code::store_unavailable, "socket",
                   "check that the server is running");
  }
}

TEST(PostgresBadUrl, AnInvalidParameterIsMisconfiguredAndNotUnavailable) {
  const std::string url = with_password("postgres://user:", "@localhost");
  expect_refused(url + ":99999/db", Code::misconfigured, "port", "");
  expect_refused(url + ":x/db", Code::misconfigured, "port", "");
  expect_refused(url + "/db?sslmode=bogus", Code::misconfigured, "sslmode", "");
  expect_refused(url + "/db?target_session_attrs=bogus", Code::misconfigured,
                 "target_session_attrs", "");
}

// libpq then parses part of the password as another component and quotes it in its message.
TEST(PostgresBadUrl, APasswordWithUnencodedSpecialCharactersIsNotShown) {
  for (const char* special : {"@", "/", ":", "?", "#", " ", "&"}) {
    SCOPED_TRACE(special);
    const std::string secret = std::string(kPassword);
    for (const std::string& password : {special + secret, secret + special + "x"}) {
      const Result<Store> store = open("postgres://user:" + password + "@localhost:1/db");
      ASSERT_FALSE(store);
      expect_no_password(store.error());
      const Result<int> version = migrate("postgres://user:" + password + "@localhost:1/db");
      ASSERT_FALSE(version);
      expect_no_password(version.error());
    }
  }
}

TEST(PostgresBadUrl, APasswordParameterIsNotShown) {
  for (const char* scheme : {"postgres", "postgresq"}) {
    const std::string url = with_password(std::string(scheme) + "://user@localhost:1/db?password=",
                                          "&application_name=x");
    const Result<Store> store = open(url);
    ASSERT_FALSE(store);
    expect_no_password(store.error());
    const Result<int> version = migrate(url);
    ASSERT_FALSE(version);
    expect_no_password(version.error());
  }
}

TEST(PostgresBadUrl, AMissingCapabilityErrorShowsNoPassword) {
  const PostgresDatabase database;
  const Result<Store> store = open(with_password(database.url() + "&password=", ""),
                                   {.needs = {Capability::dedup, Capability::keys}});
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code(), Code::misconfigured);
  expect_no_password(store.error());
}

TEST(PostgresBadUrl, KeywordsInsteadOfAUrlAreRefusedWithoutShowingThePassword) {
  const std::string keywords = with_password("host=localhost dbname=db password=", "");
  const Result<Store> store = open(keywords);
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code(), Code::misconfigured);
  expect_no_password(store.error());
}

TEST(PostgresBadUrl, AHostThatRefusesConnectionsIsSkipped) {
  const PostgresDatabase database;
  const std::string hosts = "/nowhere," + postgres_directory() + "&port=1,5432";
  const std::string url = with_password("postgres://hapax:", "@/" + database.name() +
                                                                 "?target_session_attrs=read-write"
                                                                 "&host=" +
                                                                 hosts);
  Result<Store> store = open(url);
  ASSERT_TRUE(store) << store.error().to_string();
  EXPECT_FALSE(store->dedup({.scope = "s", .id = "a"})->duplicate);
}

TEST(PostgresBadUrl, EveryRefusingHostIsNamed) {
  const std::string url =
      with_password("postgres://hapax:", "@/db?host=/nowhere,/elsewhere&port=1,2");
  expect_refused(url, Code::store_unavailable, "/nowhere", "check that the server is running");
  EXPECT_NE(open(url).error().detail().find("/elsewhere"), std::string::npos);
}

}  // namespace
}  // namespace hapax::test
