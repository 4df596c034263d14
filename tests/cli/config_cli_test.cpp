// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "cli/run.hpp"
#include "support/world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace hapax {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

using test::hapax;
using test::Ran;

// Sets an environment variable for the commands run during its lifetime.
class Variable {
 public:
  Variable(std::string name, const std::string& value) : name_(std::move(name)) {
    setenv(name_.c_str(), value.c_str(), 1);
  }
  ~Variable() { unsetenv(name_.c_str()); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const std::string name_;
};

class ConfigCliTest : public testing::Test {
 protected:
  std::string text() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  test::TempDir directory_;
  std::string path_ = directory_.file("hapax.toml");
};

TEST_F(ConfigCliTest, InitWritesAFileThatPassesCheck) {
  const Ran init = hapax("init -c " + path_);
  EXPECT_EQ(init.out, "{\"config\":\"" + path_ +
                          R"(","source":"demo","destination":"work",)"
                          R"("url":"http://127.0.0.1:8420/in/demo","variable":null,"missing":[]})"
                          "\n");
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
  EXPECT_THAT(refused.out, HasSubstr(path_ + " already exists; use --force to overwrite"));
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

TEST_F(ConfigCliTest, InitWritesTheSourceOfAProviderForAHandler) {
  const Ran init = hapax("init --preset stripe --to http://127.0.0.1:3000/webhooks -c " + path_);
  EXPECT_EQ(init.exit_code, 0) << init.out;
  EXPECT_THAT(init.out, HasSubstr(R"("variable":"STRIPE_WEBHOOK_SECRET","missing":[])"));
  EXPECT_THAT(text(), HasSubstr("[[source]]\n"
                                "name = \"stripe\"\n"
                                "preset = \"stripe\""));
  EXPECT_THAT(text(), HasSubstr("secrets = [{ env = \"STRIPE_WEBHOOK_SECRET\" }]\n"
                                "deliver_to = [\"handler\"]\n"
                                "\n"
                                "[[destination]]\n"
                                "name = \"handler\"\n"
                                "url = \"http://127.0.0.1:3000/webhooks\"\n"));
  unsetenv("STRIPE_WEBHOOK_SECRET");
  const Ran without = hapax("check -c " + path_);
  EXPECT_EQ(without.exit_code, 1);
  EXPECT_THAT(without.out,
              HasSubstr("the environment variable 'STRIPE_WEBHOOK_SECRET' is not set"));
  const Variable variable("STRIPE_WEBHOOK_SECRET", "whsec_x");
  EXPECT_EQ(hapax("check --json -c " + path_).out,
            "{\"ok\":true,\"problems\":[],\"warnings\":[]}\n");
}

TEST_F(ConfigCliTest, InitDeliversTheDemoSourceToAHandler) {
  EXPECT_EQ(hapax("init --to http://127.0.0.1:3000/ -c " + path_).exit_code, 0);
  EXPECT_THAT(text(), HasSubstr("name = \"demo\""));
  EXPECT_THAT(text(), HasSubstr("whsec_"));
  EXPECT_THAT(text(), HasSubstr("url = \"http://127.0.0.1:3000/\""));
  EXPECT_EQ(hapax("check -c " + path_).exit_code, 0);
}

TEST_F(ConfigCliTest, InitLetsWorkersPullFromAProviderWithoutAHandler) {
  EXPECT_EQ(hapax("init --preset cal-com -c " + path_).exit_code, 0);
  EXPECT_THAT(text(), HasSubstr("{ env = \"CAL_COM_WEBHOOK_SECRET\" }"));
  EXPECT_THAT(text(), HasSubstr("kind = \"pull\""));
}

TEST_F(ConfigCliTest, InitPrintsNextStepsOnATerminal) {
  const Ran ran =
      hapax("version >/dev/null; cd " + directory_.path().string() + " && script -qec '" +
            HAPAX_BINARY + " init --preset stripe --to http://127.0.0.1:3000/' /dev/null");
  EXPECT_THAT(ran.out, HasSubstr("export STRIPE_WEBHOOK_SECRET=..."));
  EXPECT_THAT(ran.out, HasSubstr("  hapax check "));
  EXPECT_THAT(ran.out, HasSubstr("  hapax serve "));
  EXPECT_THAT(ran.out, HasSubstr("http://127.0.0.1:8420/in/stripe"));
  EXPECT_THAT(ran.out, HasSubstr("  hapax send "));
  EXPECT_THAT(ran.out, HasSubstr("https://YOUR.HOST/in/stripe"));
  EXPECT_THAT(ran.out, Not(HasSubstr("Not complete")));
}

TEST_F(ConfigCliTest, InitSuggestsSimilarPresetNames) {
  const Ran ran = hapax("init --preset strip -c " + path_);
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_THAT(ran.out, HasSubstr("unknown preset 'strip'"));
  EXPECT_THAT(ran.out, HasSubstr("stripe"));
  EXPECT_THAT(ran.out, HasSubstr("'hapax presets' lists them all"));
  EXPECT_EQ(text(), "");
}

TEST_F(ConfigCliTest, InitRejectsInvalidUrls) {
  for (const char* to : {"localhost:3000", "ftp://a/", "http://user@a/", "http://a/#b", "\"x"}) {
    const Ran ran = hapax("init --to '" + std::string(to) + "' -c " + path_);
    EXPECT_EQ(ran.exit_code, 2) << to;
    EXPECT_THAT(ran.out, HasSubstr("--to: ")) << to;
    EXPECT_EQ(text(), "") << to;
  }
}

TEST_F(ConfigCliTest, InitNamesRequiredKeysOfAPreset) {
  const Variable variable("BRAINTREE_WEBHOOK_SECRET", "s3cret");
  const std::string problem =
      R"({"field":"source[1].key_id","text":"this scheme needs key_id, the provider's name for the )"
      R"(secret; write key_id = \"...\""})";
  EXPECT_THAT(hapax("init --preset braintree -c " + path_).out,
              HasSubstr("\"missing\":[" + problem + "]}"));
  EXPECT_THAT(text(), HasSubstr("\n# key_id = \"...\""));
  const Ran check = hapax("check -c " + path_);
  EXPECT_EQ(check.exit_code, 1);
  EXPECT_THAT(check.out, HasSubstr("\"field\":\"source[1].key_id\""));
  const Ran person = hapax("version >/dev/null; script -qec '" HAPAX_BINARY
                           " init --force --preset braintree -c " +
                           path_ + "' /dev/null");
  EXPECT_THAT(person.out, HasSubstr("Not complete yet"));
  EXPECT_THAT(person.out, HasSubstr("  source[1].key_id: this scheme needs key_id"));
}

TEST_F(ConfigCliTest, InitExplainsTheHandshakeOfAProvisionedSecret) {
  const Ran ran =
      hapax("version >/dev/null; script -qec '" HAPAX_BINARY " init --preset asana -c " + path_ +
            "' /dev/null");
  EXPECT_THAT(ran.out, HasSubstr("  hapax handshake asana --for 10m -c " + path_));
  EXPECT_THAT(ran.out, Not(HasSubstr("export ")));
  EXPECT_EQ(hapax("check -c " + path_).exit_code, 0);
}

TEST_F(ConfigCliTest, CheckReportsEveryProblemWithoutSecrets) {
  std::ofstream(path_) << "[[source]]\nname = 'a'\npreset = 'strip'\n"
                          "secrets = ['hunter2', { env = 'HAPAX_NOT_SET' }]\nremember = '1'\n";
  const Ran ran = hapax("check -c " + path_);
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.out, StartsWith("{\"ok\":false,\"problems\":[{\"file\":\"" + path_ +
                                  "\",\"line\":3,\"field\":\"source[1].preset\",\"text\":\"unknown "
                                  "preset 'strip'; did you mean 'stripe'?"));
  EXPECT_THAT(ran.out, HasSubstr("\"line\":4,\"field\":\"source[1].secrets[2].env\""));
  EXPECT_THAT(ran.out, HasSubstr("\"line\":5,\"field\":\"source[1].remember\""));
  EXPECT_THAT(ran.out, Not(HasSubstr("hunter2")));
}

TEST_F(ConfigCliTest, CheckReportsAMissingFile) {
  const Ran ran = hapax("check -c " + path_);
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.out, HasSubstr("the file does not exist; create one with 'hapax init'"));
}

}  // namespace
}  // namespace hapax
