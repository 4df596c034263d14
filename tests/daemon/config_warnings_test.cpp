// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// The warnings of `hapax check` for valid but risky configurations.
#include "daemon/config_file.hpp"
#include "verify/keys.hpp"

#include <gmock/gmock.h>

namespace hapax::daemon {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ConfigWarningsTest : public ConfigFile {
 protected:
  // All warnings, without the file name.
  std::vector<std::string> warnings(const std::string& text) {
    const Loaded loaded = load(text);
    EXPECT_THAT(loaded.problems, IsEmpty()) << loaded.problems.front().to_string();
    std::vector<std::string> all;
    for (const Problem& each : loaded.warnings) {
      const std::string whole = each.to_string();
      all.push_back(whole.substr(whole.find("toml:") + 5));
    }
    return all;
  }
};

std::string source(const std::string& name, const std::string& rest) {
  return "[[source]]\nname = '" + name + "'\n" + rest;
}

const std::string kByHeader = "verify = { scheme = 'hmac', header = 'X-S' }\n";

TEST_F(ConfigWarningsTest, OneSecretInTwoSources) {
  const std::string whole = "id = 'json:/id'\nsecrets = ['one', 'two']\n";
  EXPECT_THAT(warnings(source("a", kByHeader + whole) +
                       source("b", kByHeader + "id = 'json:/id'\nsecrets = ['three', 'two']\n")),
              ElementsAre(HasSubstr("10: source[2].secrets: the source 'a' has the same secret")));
  EXPECT_THAT(warnings(source("a", kByHeader + whole) +
                       source("b", kByHeader + "id = 'json:/id'\nsecrets = ['three']\n")),
              IsEmpty());
  // In any encoding: here hex and text.
  EXPECT_THAT(
      warnings(source("a", kByHeader + whole) +
               source("b",
                      "verify = { scheme = 'hmac', header = 'X-S', secret_encoding = 'hex' }\n"
                      "id = 'json:/id'\nsecrets = ['6f6e65']\n")),
      ElementsAre(HasSubstr("the same secret")));
  EXPECT_THAT(warnings(source("a", "id = 'json:/id'\n" + kByHeader +
                                       "[[source.tenant]]\nname = 'x'\nsecrets = ['one']\n") +
                       source("b", kByHeader + whole)),
              ElementsAre(HasSubstr("the source 'a' has the same secret")));
  EXPECT_THAT(warnings("[server]\npublic_url = 'https://h'\n" +
                       source("a", "preset = 'square'\nsecrets = ['one']\n") +
                       source("b", "preset = 'square'\nsecrets = ['one']\n")),
              IsEmpty())
      << "the URL is signed, so neither source accepts requests of the other";
}

TEST_F(ConfigWarningsTest, AnIdThatIsNotSigned) {
  EXPECT_THAT(warnings(source("a", "preset = 'github'\nid = 'query:id'\nsecrets = ['1']\n")),
              ElementsAre(HasSubstr("4: source[1].id: 'query:id' is not signed")));
  EXPECT_THAT(
      warnings(source("a", kByHeader + "id = ['json:/id', 'header:X-Id']\nsecrets = ['1']\n")),
      ElementsAre(HasSubstr("4: source[1].id[2]: 'header:X-Id' is not signed")));
  EXPECT_THAT(warnings(source("a",
                              "preset = 'github'\nid = 'header:x-github-delivery'\n"
                              "secrets = ['1']\n")),
              IsEmpty())
      << "the default id of the preset";
  EXPECT_THAT(warnings(source("a", "preset = 'github'\nid = 'json:/id'\nsecrets = ['1']\n")),
              IsEmpty());
  EXPECT_THAT(warnings(source("a",
                              "verify = { scheme = 'token', header = 'X-T' }\n"
                              "id = 'header:X-Id'\nsecrets = ['1']\n")),
              IsEmpty())
      << "this scheme signs nothing";
}

TEST_F(ConfigWarningsTest, AnIdInAFormSignedWithoutDelimiters) {
  const std::string server = "[server]\npublic_url = 'https://h'\n";
  EXPECT_THAT(
      warnings(server +
               source("a", "preset = 'twilio'\nid = 'form:MessageSid'\nsecrets = ['1']\n")),
      ElementsAre(HasSubstr("6: source[1].id: 'form:MessageSid' is signed without a delimiter")));
  EXPECT_THAT(
      warnings(server + source("a", "preset = 'plivo'\nid = 'form:CallUUID'\nsecrets = ['1']\n")),
      ElementsAre(HasSubstr("'form:CallUUID' is signed without a delimiter")));
  EXPECT_THAT(warnings(server + source("a", "preset = 'plivo'\nsecrets = ['1']\n")), IsEmpty());
}

TEST_F(ConfigWarningsTest, APlainHashThatDoesNotEndWithTheSecret) {
  const auto hash = [](const std::string& text) {
    return source("a", "verify = { scheme = 'hash', header = 'X-S', signed = " + text +
                           " }\nid = 'json:/id'\nsecrets = ['1']\n");
  };
  EXPECT_THAT(warnings(hash("'{secret}{body}'")),
              ElementsAre(HasSubstr("3: source[1].verify.signed: the secret is not last")));
  EXPECT_THAT(warnings(hash("['{body}{secret}', '{secret}{body}']")),
              ElementsAre(HasSubstr("the secret is not last")));
  EXPECT_THAT(warnings(hash("'{body}{secret}'")), IsEmpty());
  EXPECT_THAT(problem(hash("'{body}'")),
              HasSubstr("3: source[1].verify.signed: {secret} is missing"));
}

TEST_F(ConfigWarningsTest, TokensThatCanBeGuessed) {
  EXPECT_THAT(warnings("[admin]\ntoken = 'x'\n"),
              ElementsAre(HasSubstr("2: admin.token: a token of 1 character can be guessed")));
  EXPECT_THAT(warnings("[admin]\ntoken = '0123456789abcdef'\n"), IsEmpty());
  EXPECT_THAT(warnings("[[token]]\nname = 't'\nsecret = 'short'\nallow = ['read']\n"),
              ElementsAre(HasSubstr("3: token[1].secret: a token of 5 characters can be guessed")));
}

// A public key has many encodings, all of which verify the same requests.
TEST_F(ConfigWarningsTest, OnePublicKeyForTwoTenantsIsRejectedInAnyEncoding) {
  const test::KeyPair key = test::make_ed25519();
  std::string base64 = key.public_pem;
  base64.erase(0, base64.find('\n') + 1);
  base64.erase(base64.find("\n-----"));
  std::erase(base64, '\n');
  const auto tenant = [](const std::string& name, const std::string& text) {
    return "[[source.tenant]]\nname = '" + name + "'\nsecrets = ['''" + text + "''']\n";
  };
  const std::string head =
      source("a", "verify = { scheme = 'ed25519', header = 'X-S' }\nid = 'json:/id'\n");
  EXPECT_THAT(problem(head + tenant("x", key.public_pem) + tenant("y", base64)),
              HasSubstr("source[1].tenant[2].secrets[1]: the secret on line 7 is the same"));
  EXPECT_THAT(
      load(head + tenant("x", key.public_pem) + tenant("y", test::make_ed25519().public_pem))
          .problems,
      IsEmpty());
}

}  // namespace
}  // namespace hapax::daemon
