// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "cli/running_server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <boost/json.hpp>

namespace hapax {
namespace {

namespace json = boost::json;
using test::Ran;
using testing::HasSubstr;

TEST(DestinationsCli, ListsPausesAndResumes) {
  const test::RunningServer served(
      "[[destination]]\nname = 'orders'\nurl = 'http://127.0.0.1:1/x'\nrate = '5/s'\n");
  const auto run = [&](const std::string& arguments) {
    return test::run_hapax(
        served.directory(),
        "destinations " + arguments + " --token-file admin.token --admin " + served.admin());
  };
  const Ran listed = run("--json");
  EXPECT_EQ(listed.exit_code, 0) << listed.errors;
  const json::value shown = json::parse(listed.out);
  EXPECT_EQ(shown.at("name"), "orders");
  EXPECT_EQ(shown.at("kind"), "http");
  EXPECT_EQ(shown.at("breaker"), "closed");
  EXPECT_EQ(shown.at("under_way"), 0);
  EXPECT_EQ(shown.at("concurrency"), 16);
  EXPECT_EQ(shown.at("rate_per_s"), 5);
  EXPECT_EQ(shown.at("paused"), false);
  const Ran paused = run("pause orders");
  EXPECT_EQ(paused.exit_code, 0) << paused.errors;
  EXPECT_THAT(paused.out, HasSubstr(R"("paused":true)"));
  EXPECT_EQ(json::parse(run("--json").out).at("paused"), true);
  EXPECT_EQ(run("resume orders").exit_code, 0);
  EXPECT_EQ(json::parse(run("--json").out).at("paused"), false);
  const Ran unknown = run("pause nobody");
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_THAT(unknown.errors, HasSubstr("unknown destination"));
  EXPECT_EQ(run("pause").exit_code, 2);
}

}  // namespace
}  // namespace hapax
