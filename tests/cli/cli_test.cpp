// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "cli/output.hpp"

#include "cli/run.hpp"
#include "support/world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace hapax {
namespace {

using testing::HasSubstr;

using test::hapax;
using test::Ran;

class CliTest : public testing::Test {
 protected:
  std::string claim(const std::string& id) const {
    return "dedup --store " + url_ + " --scope s --id " + id;
  }

  test::TempDir directory_;
  std::string url_ = "sqlite:" + directory_.file("cli.db");
};

TEST_F(CliTest, DedupReportsADuplicate) {
  const Ran first = hapax(claim("a") + " --json");
  EXPECT_EQ(first.out, "{\"duplicate\":false}\n");
  EXPECT_EQ(first.exit_code, 0);
  const Ran second = hapax(claim("a"));
  EXPECT_EQ(second.out, "{\"duplicate\":true}\n");
  EXPECT_EQ(second.exit_code, 3);
}

TEST_F(CliTest, DedupRemembersForTheGivenTime) {
  EXPECT_EQ(hapax(claim("a") + " --ttl 1ms").exit_code, 0);
  EXPECT_EQ(hapax(claim("b") + " --ttl 1d").exit_code, 0);
  EXPECT_EQ(hapax(claim("b") + " --ttl 1d").exit_code, 3);
}

TEST_F(CliTest, DedupWithTheSameTokenIsIdempotent) {
  const std::string token = " --token 00112233445566778899aabbccddeeff";
  EXPECT_EQ(hapax(claim("a") + token).exit_code, 0);
  EXPECT_EQ(hapax(claim("a") + token).exit_code, 0);
  EXPECT_EQ(hapax(claim("a")).exit_code, 3);
}

TEST_F(CliTest, WrongUsageIsExitCodeTwo) {
  for (const std::string& arguments :
       {std::string(), std::string("frobnicate"), std::string("dedup"),
        "dedup --store " + url_ + " --scope s", claim("a") + " --ttl 30", claim("a") + " --ttl 0s",
        claim("''"), claim("a") + " --token zz", claim("a") + " --token " + std::string(32, '0'),
        claim("a") + " --nope", std::string("migrate"), std::string("purge")}) {
    const Ran ran = hapax(arguments);
    EXPECT_EQ(ran.exit_code, 2) << arguments << ": " << ran.out;
  }
}

TEST_F(CliTest, AnErrorIsExitCodeOneAndNamesTheCause) {
  const Ran ran = hapax("dedup --store sqlite:/no/such/dir/x.db --scope s --id a");
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.out, HasSubstr("the directory /no/such/dir does not exist"));
  EXPECT_THAT(ran.out, HasSubstr("\"outcome\":\"did-not-happen\""));
  EXPECT_EQ(hapax("purge --store nope:").exit_code, 1);
  const Ran memory = hapax("migrate --store memory:");
  EXPECT_EQ(memory.exit_code, 1);
  EXPECT_THAT(memory.out, testing::Not(HasSubstr("or memory:"))) << "must not suggest the same URL";
}

TEST_F(CliTest, MigrateCreatesTheSchemaAndPrintsItsVersion) {
  const Ran first = hapax("migrate --store " + url_);
  EXPECT_THAT(first.out, testing::MatchesRegex("\\{\"schema\":[1-9][0-9]*\\}\n"));
  const Ran again = hapax("migrate --store " + url_);
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_EQ(again.out, first.out);
}

TEST_F(CliTest, PurgeReportsHowManyItRemoved) {
  for (const char* id : {"a", "b", "c"}) EXPECT_EQ(hapax(claim(id) + " --ttl 1ms").exit_code, 0);
  EXPECT_EQ(hapax(claim("d")).exit_code, 0);
  EXPECT_EQ(hapax("purge --store " + url_).out, "{\"removed\":3}\n");
  EXPECT_EQ(hapax("purge --json --store " + url_).out, "{\"removed\":0}\n");
}

TEST_F(CliTest, PurgeDoesNotCreateAStore) {
  const Ran ran = hapax("purge --store " + url_);
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.out, HasSubstr("no store at this URL"));
  EXPECT_FALSE(std::filesystem::exists(directory_.file("cli.db")));
  EXPECT_EQ(hapax("purge --store memory:").exit_code, 1) << "a new memory store is empty";
}

TEST_F(CliTest, AnUnknownCommandIsNamed) {
  EXPECT_THAT(hapax("frobnicate").out, HasSubstr("unknown command 'frobnicate'"));
  EXPECT_THAT(hapax("rejects admit x --all y").out, testing::Not(HasSubstr("unknown command")));
  EXPECT_THAT(hapax("").out, testing::Not(HasSubstr("unknown command")));
}

TEST_F(CliTest, VersionIsPlainTextUnlessJsonIsRequested) {
  EXPECT_EQ(hapax("version").out, "hapax " HAPAX_VERSION "\n");
  EXPECT_EQ(hapax("version --json").out, "{\"version\":\"" HAPAX_VERSION "\"}\n");
  EXPECT_EQ(hapax("--help").exit_code, 0);
}

TEST(JsonString, EscapesInvalidJsonCharacters) {
  EXPECT_EQ(json_string("a\"b\\c\n\x01\xff"), "\"a\\\"b\\\\c\\u000a\\u0001\\u00ff\"");
  EXPECT_EQ(json_string("\xc2\x9b\xe2\x80\xae"), "\"\\u009b\\u202e\"");
}

}  // namespace
}  // namespace hapax
