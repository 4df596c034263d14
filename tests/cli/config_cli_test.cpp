// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "cli/run.hpp"
#include "support/world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <iterator>

namespace hapax {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

using test::hapax;
using test::Ran;

class ConfigCliTest : public testing::Test {
 protected:
  std::string text() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  test::TempDir directory_;
  std::string path_ = directory_.file("hapax.toml");
};

TEST_F(ConfigCliTest, InitWritesAFileThatCheckLikes) {
  const Ran init = hapax("init -c " + path_);
  EXPECT_EQ(init.out, "{\"config\":\"" + path_ + "\"}\n");
  EXPECT_EQ(init.exit_code, 0);
  struct stat status {};
  ASSERT_EQ(stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0600U);
  const Ran check = hapax("check --json -c " + path_);
  EXPECT_EQ(check.out, "{\"ok\":true,\"problems\":[],\"warnings\":[]}\n");
  EXPECT_EQ(check.exit_code, 0);
}

TEST_F(ConfigCliTest, InitOverwritesAFileOnlyWithForce) {
  std::ofstream(path_) << "# mine\n";
  const Ran refused = hapax("init -c " + path_);
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.out, HasSubstr(path_ + " is there already; --force writes over it"));
  EXPECT_EQ(text(), "# mine\n");
  EXPECT_EQ(hapax("init --force -c " + path_).exit_code, 0);
  const std::string first = text();
  EXPECT_THAT(first, HasSubstr("whsec_"));
  EXPECT_EQ(hapax("init --force -c " + path_).exit_code, 0);
  EXPECT_NE(text(), first);  // another secret
  struct stat status {};
  ASSERT_EQ(stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0600U);
}

TEST_F(ConfigCliTest, InitReportsWhyItCannotWrite) {
  const Ran ran = hapax("init -c " + directory_.file("no/such/hapax.toml"));
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.out, HasSubstr("No such file or directory"));
}

TEST_F(ConfigCliTest, CheckReportsEveryProblemAndNoSecret) {
  std::ofstream(path_) << "[[source]]\nname = 'a'\npreset = 'strip'\n"
                          "secrets = ['hunter2', { env = 'HAPAX_NOT_SET' }]\nremember = '1'\n";
  const Ran ran = hapax("check -c " + path_);
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.out, StartsWith("{\"ok\":false,\"problems\":[{\"file\":\"" + path_ +
                                  "\",\"line\":3,\"field\":\"source[1].preset\",\"text\":\"there "
                                  "is no preset 'strip'; did you mean 'stripe'?"));
  EXPECT_THAT(ran.out, HasSubstr("\"line\":4,\"field\":\"source[1].secrets[2].env\""));
  EXPECT_THAT(ran.out, HasSubstr("\"line\":5,\"field\":\"source[1].remember\""));
  EXPECT_THAT(ran.out, Not(HasSubstr("hunter2")));
}

TEST_F(ConfigCliTest, CheckOfNoFileIsAProblem) {
  const Ran ran = hapax("check -c " + path_);
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.out, HasSubstr("the file is not there; 'hapax init' writes a first one"));
}

}  // namespace
}  // namespace hapax
