// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// Tenants, topics and observe mode: accepted values, and the messages for invalid ones.
#include "daemon/config_file.hpp"

#include <gmock/gmock.h>

namespace hapax::daemon {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ConfigTenantsTest : public ConfigFile {};

const std::string kHmac =
    "[[source]]\nname = 'a'\nverify = { scheme = 'hmac', header = 'X-S' }\nid = 'json:/id'\n";

std::string tenant(const std::string& name, const std::string& secrets) {
  return "[[source.tenant]]\nname = '" + name + "'\nsecrets = " + secrets + "\n";
}

TEST_F(ConfigTenantsTest, DeclaredTenantsAreSeparateSources) {
  const Loaded loaded = load(kHmac + tenant("x", "['1']") + tenant("y", "['2', '3']"));
  ASSERT_TRUE(loaded.config);
  ASSERT_EQ(loaded.config->sources.size(), 2U);  // /in/a does not exist
  EXPECT_EQ(path_of(loaded.config->sources[0]), "a/x");
  EXPECT_EQ(path_of(loaded.config->sources[1]), "a/y");
  EXPECT_THAT(loaded.config->sources[1].secrets, ElementsAre("2", "3"));
  const Loaded both = load(kHmac + "secrets = ['0']\n" + tenant("x", "['1']"));
  ASSERT_TRUE(both.config);
  EXPECT_EQ(path_of(both.config->sources[0]), "a");
  EXPECT_EQ(both.config->sources.size(), 2U);
}

TEST_F(ConfigTenantsTest, ATenantNeedsItsOwnSecrets) {
  EXPECT_THAT(problem(kHmac + "[[source.tenant]]\nname = 'x'\n"),
              HasSubstr("5: source[1].tenant[1].secrets: required"));
  EXPECT_THAT(problem(kHmac + tenant("x", "[]")),
              HasSubstr("7: source[1].tenant[1].secrets: required"));
  EXPECT_THAT(problem(kHmac + tenant("x", "['']")),
              HasSubstr("7: source[1].tenant[1].secrets[1]: the secret is empty"));
  EXPECT_THAT(problem(kHmac + tenant("x", "['same']") + tenant("y", "['same']")),
              HasSubstr("10: source[1].tenant[2].secrets[1]: the secret on line 7 is the same"));
  EXPECT_THAT(problem(kHmac + "secrets = ['same']\n" + tenant("x", "['same']")),
              HasSubstr("8: source[1].tenant[1].secrets[1]: the secret on line 5 is the same"));
  EXPECT_THAT(problem("[[source]]\nname = 'a'\nverify = 'none'\nid = 'json:/id'\n"
                      "[[source.tenant]]\nname = 'x'\n"),
              HasSubstr("5: source[1].tenant[1]: the path is not signed"));
  EXPECT_THAT(shown_, testing::Not(HasSubstr("'same'")));
}

TEST_F(ConfigTenantsTest, SecretsAreComparedDecoded) {
  const std::string text = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  EXPECT_THAT(problem("[[source]]\nname = 'a'\npreset = 'standard-webhooks'\n" +
                      tenant("x", "['whsec_" + text + "']") + tenant("y", "['" + text + "']")),
              HasSubstr("9: source[1].tenant[2].secrets[1]: the secret on line 6 is the same"));
}

TEST_F(ConfigTenantsTest, WarnsIfRejectsCannotBeReAdmitted) {
  const std::string kSigned = kHmac + "secrets = ['0']\nsender_retries = '3d'\nkeep = '1d'\n";
  const Loaded loaded = load(kSigned + "remember = '3d'\n");
  ASSERT_EQ(loaded.warnings.size(), 1U);
  EXPECT_THAT(loaded.warnings.front().to_string(), HasSubstr("rejects cannot be re-admitted"));
  EXPECT_THAT(load(kSigned + "remember = '4d'\n").warnings, IsEmpty());
}

TEST_F(ConfigTenantsTest, WronglyEncodedSecretsAreRejectedWithTheirLine) {
  const std::string standard = "[[source]]\nname = 'a'\npreset = 'standard-webhooks'\n";
  EXPECT_THAT(problem(standard + tenant("x", "['whsec_!!!']")),
              HasSubstr("6: source[1].tenant[1].secrets[1]: the secret must be written in base64"));
  EXPECT_THAT(problem("[[source]]\nname = 'a'\npreset = 'adyen'\nsecrets = ['0g']\n"),
              HasSubstr("4: source[1].secrets[1]: the secret must be written in hexadecimal"));
  EXPECT_THAT(problem("[[source]]\nname = 'a'\npreset = 'discord'\nsecrets = ['nonsense']\n"),
              HasSubstr("4: source[1].secrets[1]: "));
}

TEST_F(ConfigTenantsTest, InvalidTenantNamesAreRejected) {
  for (const std::string name : {"a/b", "..", ".", "a b", "a%2fb", "\xc3\xa9", "outbox"}) {
    EXPECT_THAT(problem(kHmac + tenant(name, "['1']")), HasSubstr("6: source[1].tenant[1].name"))
        << name;
  }
  EXPECT_THAT(problem(kHmac + tenant("", "['1']")), HasSubstr("empty; set a value"));
  EXPECT_THAT(problem(kHmac + tenant(std::string(129, 'x'), "['1']")),
              HasSubstr("is not a valid name"));
  EXPECT_TRUE(load(kHmac + tenant(std::string(128, 'x'), "['1']")).config);
  EXPECT_THAT(problem(kHmac + tenant("x", "['1']") + tenant("x", "['2']")),
              HasSubstr("9: source[1].tenant[2].name: line 6 already uses the name 'x'"));
  EXPECT_THAT(problem(kHmac + "[[source.tenant]]\nsecrets = ['1']\n"),
              HasSubstr("source[1].tenant[1].name: required"));
  EXPECT_THAT(problem(kHmac + tenant("x", "['1']") + "id = 'json:/x'\n"),
              HasSubstr("8: source[1].tenant[1].id: unknown key"));
  EXPECT_THAT(problem(kHmac + "secrets = ['1']\ntenant = 5\n"),
              HasSubstr("6: source[1].tenant: use tenant = \"json:/pointer\""));
}

TEST_F(ConfigTenantsTest, TheTenantMustBeASignedField) {
  const std::string good = kHmac + "secrets = ['1']\n";
  EXPECT_TRUE(load(good + "tenant = 'json:/account'\n").config);
  EXPECT_THAT(problem(good + "tenant = 'header:X-Account'\n"),
              HasSubstr("6: source[1].tenant: 'header:X-Account' is not signed"));
  EXPECT_THAT(problem(good + "tenant = 'query:account'\n"), HasSubstr("is not signed"));
  EXPECT_THAT(problem(good + "tenant = 'account'\n"), HasSubstr("6: source[1].tenant"));
  EXPECT_TRUE(load("[[source]]\nname = 'a'\npreset = 'adyen'\nsecrets = ['00ff']\n"
                   "tenant = 'json:/merchantAccountCode'\n")
                  .config);
  EXPECT_THAT(problem("[[source]]\nname = 'a'\npreset = 'adyen'\nsecrets = ['00ff']\n"
                      "tenant = 'json:/eventDate'\n"),
              HasSubstr("is not signed"));
  const Loaded token = load(
      "[[source]]\nname = 'a'\npreset = 'gitlab-token'\nsecrets = ['1']\n"
      "tenant = 'json:/project'\n");
  ASSERT_TRUE(token.config);
  ASSERT_EQ(token.warnings.size(), 1U);
  EXPECT_THAT(token.warnings[0].text, HasSubstr("nothing is signed"));
}

TEST_F(ConfigTenantsTest, WarnsAboutObserveMode) {
  const Loaded off = load(kHmac + "secrets = ['1']\nenforce = true\n");
  ASSERT_TRUE(off.config);
  EXPECT_TRUE(off.config->sources[0].enforce);
  EXPECT_THAT(off.warnings, IsEmpty());
  const Loaded on = load(kHmac + "secrets = ['1']\nenforce = false\n");
  ASSERT_TRUE(on.config);
  EXPECT_FALSE(on.config->sources[0].enforce);
  ASSERT_EQ(on.warnings.size(), 1U);
  EXPECT_EQ(on.warnings[0].field, "source[1].enforce");
  EXPECT_THAT(on.warnings[0].text, HasSubstr("observe mode"));
  EXPECT_THAT(problem(kHmac + "secrets = ['1']\nenforce = 'no'\n"),
              HasSubstr("6: source[1].enforce: this is a string; write true or false"));
}

TEST_F(ConfigTenantsTest, TopicsAreOnlyForAmazonSns) {
  EXPECT_THAT(problem(kHmac + "secrets = ['1']\ntopics = ['arn:aws:sns:r:1:n']\n"),
              HasSubstr("6: source[1].topics: only valid for Amazon SNS"));
  const std::string sns = "[[source]]\nname = 'a'\npreset = 'aws-sns'\n";
  const Loaded without = load(sns + "secrets = ['x']\n");
  ASSERT_FALSE(without.problems.empty());
  EXPECT_THAT(without.problems[0].to_string(), HasSubstr("1: source[1].topics: Amazon signs"));
  const Loaded empty = load(sns + "secrets = ['x']\ntopics = []\n");
  EXPECT_THAT(empty.problems.back().to_string(), HasSubstr("5: source[1].topics: write 1 to"));
  const Loaded bad = load(sns + "secrets = ['x']\ntopics = ['mine']\n");
  EXPECT_THAT(bad.problems.back().to_string(), HasSubstr("5: source[1].topics[1]: 'mine' is no"));
}

TEST_F(ConfigTenantsTest, ProvisioningPresetsNeedNoConfiguredSecret) {
  EXPECT_TRUE(load("[[source]]\nname = 'a'\npreset = 'asana'\n").config);
  EXPECT_TRUE(load("[[source]]\nname = 'a'\npreset = 'notion'\nsecrets = ['x']\n").config);
  EXPECT_FALSE(load("[[source]]\nname = 'a'\npreset = 'stripe'\n").config);
}

}  // namespace
}  // namespace hapax::daemon
