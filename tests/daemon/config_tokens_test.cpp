// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// [[token]]: accepted values, and the messages for invalid ones.
#include "daemon/config_file.hpp"

#include <gmock/gmock.h>

namespace hapax::daemon {
namespace {

using admin::Grant;
using admin::Right;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string kAudit = "[[destination]]\nname = 'audit'\nkind = 'pull'\n";

std::string token(const std::string& name, const std::string& secret, const std::string& allow) {
  return "[[token]]\nname = '" + name + "'\nsecret = " + secret + "\nallow = " + allow + "\n";
}

class ConfigTokensTest : public ConfigFile {
 protected:
  ConfigTokensTest() : ConfigFile({{"AUDIT", "from-env"}}) {}

  std::string refused(const std::string& allow) {
    return problem(kAudit + token("w", "'s3cret'", "['" + allow + "']"));
  }
};

TEST_F(ConfigTokensTest, ReadsTokensWithTheirRights) {
  std::ofstream(directory_.file("audit.token")) << "from-file\n";
  const Loaded loaded =
      load(kAudit + token("worker", "{ file = 'audit.token' }", "['lease:audit', 'settle:audit']") +
           token("reader", "{ env = 'AUDIT' }", "['read', 'replay']") +
           token("mailer", "'plain'", "['dedup:a:b']"));
  for (const Problem& each : loaded.problems) ADD_FAILURE() << each.to_string();
  ASSERT_TRUE(loaded.config);
  ASSERT_EQ(loaded.config->tokens.size(), 3U);
  const auto& tokens = loaded.config->tokens;
  EXPECT_EQ(tokens[0].name, "worker");
  EXPECT_EQ(tokens[0].secret, "from-file");
  EXPECT_THAT(tokens[0].allow,
              ElementsAre(Grant{Right::lease, "audit"}, Grant{Right::settle, "audit"}));
  EXPECT_EQ(tokens[1].secret, "from-env");
  EXPECT_THAT(tokens[1].allow, ElementsAre(Grant{Right::read}, Grant{Right::replay}));
  EXPECT_THAT(tokens[2].allow, ElementsAre(Grant{Right::dedup, "a:b"}));
}

TEST_F(ConfigTokensTest, ReportsInvalidRights) {
  EXPECT_EQ(refused("leese:audit"),
            "7: token[1].allow[1]: unknown right; write \"read\", \"replay\", "
            "\"lease:DESTINATION\", \"settle:DESTINATION\" or \"dedup:SCOPE\"");
  EXPECT_THAT(refused("admin"), HasSubstr("unknown right"));
  EXPECT_THAT(refused("*"), HasSubstr("unknown right"));
  EXPECT_EQ(refused("lease"),
            "7: token[1].allow[1]: this right needs an argument; use \"lease:DESTINATION\"");
  EXPECT_THAT(refused("settle:"), HasSubstr("use \"settle:DESTINATION\""));
  EXPECT_THAT(refused("dedup:"), HasSubstr("use \"dedup:SCOPE\""));
  EXPECT_THAT(refused("read:audit"), HasSubstr("this right takes no argument; use \"read\""));
  EXPECT_EQ(
      refused("lease:orders"),
      "7: token[1].allow[1]: unknown destination 'orders'; add a [[destination]] of that name");
  EXPECT_THAT(refused("messages:mail"), HasSubstr("'messages' is not available in this version"));
  EXPECT_THAT(refused("keys:api"), HasSubstr("'keys' is not available in this version"));
}

TEST_F(ConfigTokensTest, ReportsMissingAndRepeatedValues) {
  EXPECT_THAT(problem("[[token]]\nsecret = 'x'\nallow = ['read']\n"),
              HasSubstr("token[1].name: required"));
  EXPECT_THAT(problem("[[token]]\nname = 'x'\nallow = ['read']\n"),
              HasSubstr("token[1].secret: required"));
  EXPECT_THAT(problem("[[token]]\nname = 'x'\nsecret = 'x'\n"),
              HasSubstr("token[1].allow: required"));
  EXPECT_THAT(problem(token("x", "'x'", "[]")), HasSubstr("4: token[1].allow: the list is empty"));
  EXPECT_THAT(problem(token("x", "'x'", "'read'")), HasSubstr("4: token[1].allow"));
  EXPECT_THAT(problem(token("x", "{ env = 'NONE' }", "['read']")), HasSubstr("3: token[1].secret"));
  EXPECT_THAT(problem(token("x", "'a b'", "['read']")), HasSubstr("visible ASCII"));
  EXPECT_THAT(problem(token("x", "'1'", "['read']") + token("x", "'2'", "['read']")),
              HasSubstr("6: token[2].name: line 2 already uses the name 'x'"));
  const std::string same =
      problem(token("x", "'s3cret'", "['read']") + token("y", "'s3cret'", "['read']"));
  EXPECT_EQ(same, "7: token[2].secret: another token has the same secret; choose another");
  EXPECT_THAT(problem("[admin]\ntoken = 's3cret'\n" + token("x", "'s3cret'", "['read']")),
              HasSubstr("this is the admin token"));
  EXPECT_THAT(problem(token("x", "'1'", "['read']") + "rights = []\n"),
              HasSubstr("token[1].rights: unknown key"));
  EXPECT_THAT(problem("[token]\nname = 'x'\n"), HasSubstr("use [[token]] in double brackets"));
}

}  // namespace
}  // namespace hapax::daemon
