// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "cli/running_server.hpp"
#include "support/eventually.hpp"
#include "support/http.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <boost/json.hpp>

#include <sstream>

namespace hapax {
namespace {

namespace json = boost::json;
using test::Ran;
using testing::HasSubstr;

const std::string kSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

// A server that starts with a wrong secret.
class RejectsCli : public testing::Test {
 protected:
  static std::string source(const std::string& secret) {
    return "[[source]]\nname = 'demo'\npreset = 'standard-webhooks'\nsecrets = ['" + secret +
           "']\n";
  }
  Ran run(const std::string& arguments) {
    return test::run_hapax(served_.directory(),
                           arguments + " --token-file admin.token --admin " + served_.admin());
  }
  // Waits until `wanted` rejects are stored and returns them.
  std::vector<json::value> rejects(std::size_t wanted, const std::string& how = "") {
    std::vector<json::value> found;
    EXPECT_TRUE(test::eventually([&] {
      const Ran ran = run("rejects --json " + how);
      EXPECT_EQ(ran.exit_code, 0) << ran.errors;
      found.clear();
      std::istringstream lines(ran.out);
      for (std::string line; std::getline(lines, line);) found.push_back(json::parse(line));
      return found.size() >= wanted;
    }));
    EXPECT_EQ(found.size(), wanted);
    return found;
  }
  void post(const std::string& id) {
    const std::string body = R"({"type":"t"})";
    test::RawClient client(served_.port());
    const auto headers = test::signed_headers("standard-webhooks", kSecret, body, id);
    EXPECT_EQ(client.post("/in/demo", headers, body).status, 401);
  }

  test::RunningServer served_{source("whsec_V1JPTkdXUk9OR1dST05HV1JPTkdXUk9ORw==")};
};

TEST_F(RejectsCli, ListsExplainsAndAdmits) {
  for (const char* id : {"a", "b", "c"}) post(id);
  const std::vector<json::value> listed = rejects(3, "--source demo --reason signature-invalid");
  ASSERT_EQ(listed.size(), 3U);
  const std::string first(listed.back().at("reject").as_string());

  const Ran shown = run("rejects show " + first);
  EXPECT_EQ(shown.exit_code, 0) << shown.errors;
  const json::value detail = json::parse(shown.out);
  EXPECT_EQ(detail.at("now").at("reason"), "signature-invalid");
  EXPECT_FALSE(detail.at("explanation").as_array().empty()) << "like that of 'hapax verify'";
  EXPECT_EQ(run("rejects show --body " + first).out, R"({"type":"t"})");

  const Ran refused = run("rejects admit " + first);
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.errors, HasSubstr("refused: the server answered 422"));
  EXPECT_THAT(run("rejects admit --source demo --dry-run").out,
              HasSubstr(R"("admitted":0,"duplicates":0,"still_invalid":3)"));

  served_.reload(source(kSecret));
  EXPECT_THAT(run("rejects admit --source demo --dry-run").out, HasSubstr(R"("admitted":3)"));
  const Ran one = run("rejects admit " + first);
  EXPECT_EQ(one.exit_code, 0) << one.errors;
  EXPECT_THAT(one.out, HasSubstr(R"("id":"a","duplicate":false)"));
  EXPECT_EQ(run("rejects admit " + first).exit_code, 1) << "an admitted reject is removed";
  const Ran rest = run("rejects admit --source demo");
  EXPECT_EQ(rest.exit_code, 0) << rest.errors;
  EXPECT_THAT(rest.out, HasSubstr(R"("matched":2,"admitted":2)"));
  EXPECT_EQ(run("rejects").out, "");
}

// Anyone can send such headers; the operator's terminal must not interpret them.
TEST_F(RejectsCli, ShowsControlCharactersEscaped) {
  test::RawClient client(served_.port());
  auto headers = test::signed_headers("standard-webhooks", kSecret, "{}", "a");
  headers.push_back({"X-Evil",
                     "\x9b"
                     "2J\xc2\x9d"
                     "0;title\xc2\x9c\xe2\x80\xae"});
  EXPECT_EQ(client.post("/in/demo", headers, "{}").status, 401);
  const std::vector<json::value> listed = rejects(1);
  ASSERT_EQ(listed.size(), 1U);
  const Ran ran = run("rejects show " + std::string(listed[0].at("reject").as_string()));
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_THAT(ran.out, HasSubstr("\\u009b2J\\u009d0;title\\u009c\\u202e"));
  for (const char* each : {"\xc2\x9b", "\xc2\x9d", "\xe2\x80\xae", "\x1b"}) {
    EXPECT_EQ(ran.out.find(each), std::string::npos) << ran.out;
  }
}

TEST_F(RejectsCli, RejectsWrongArguments) {
  EXPECT_EQ(run("rejects admit").exit_code, 2);
  EXPECT_EQ(run("rejects admit x --source demo").exit_code, 2);
  EXPECT_EQ(run("rejects show").exit_code, 2);
  EXPECT_EQ(run("rejects show nothing").exit_code, 1);
}

}  // namespace
}  // namespace hapax
