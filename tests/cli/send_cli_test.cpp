// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "cli/running_server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <boost/json.hpp>

#include <fstream>

namespace hapax {
namespace {

namespace json = boost::json;
using test::Ran;
using test::RunningServer;
using testing::HasSubstr;

constexpr const char* kDemo =
    "[[source]]\nname = 'demo'\npreset = 'standard-webhooks'\n"
    "secrets = ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw']\n";

json::value parsed(const Ran& ran) {
  json::error_code error;
  json::value value = json::parse(ran.out, error);
  EXPECT_FALSE(error) << ran.out << ran.errors;
  return value;
}

std::int64_t number(const json::value& object, const char* member) {
  return json::value_to<std::int64_t>(object.at(member));
}

class SendTest : public testing::Test {
 protected:
  Ran send(const std::string& arguments) const {
    return test::run_hapax(server_.directory(),
                           "send --timeout 600 --url " + server_.url("demo") + " " + arguments);
  }

  RunningServer server_{kDemo};
};

TEST_F(SendTest, AnEventReportsItsIds) {
  const Ran first = send("--id order-1");
  EXPECT_EQ(first.exit_code, 0) << first.errors;
  const json::value answer = parsed(first);
  EXPECT_EQ(answer.at("id"), "order-1");
  EXPECT_EQ(answer.at("duplicate"), false);
  const json::value again = parsed(send("--id order-1"));
  EXPECT_EQ(again.at("duplicate"), true);
  EXPECT_EQ(again.at("event"), answer.at("event"));
  EXPECT_NE(parsed(send("")).at("event"), answer.at("event"));
}

TEST_F(SendTest, TheCountsAddUp) {
  const Ran ran = send("--count 200 --duplicates 50 --concurrency 8");
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  const json::value all = parsed(ran);
  EXPECT_EQ(number(all, "sent"), 200);
  EXPECT_EQ(number(all, "accepted"), 150);
  EXPECT_EQ(number(all, "duplicate"), 50);
  EXPECT_EQ(number(all, "failed"), 0);
  EXPECT_TRUE(all.at("refused").as_object().empty());
  const json::object& latency = all.at("latency_ms").as_object();
  const auto at = [&](const char* name) { return json::value_to<double>(latency.at(name)); };
  EXPECT_GT(at("p50"), 0);
  EXPECT_LE(at("p50"), at("p90"));
  EXPECT_LE(at("p90"), at("p99"));
  EXPECT_LE(at("p99"), at("max"));
}

TEST_F(SendTest, AllButOneCanBeDuplicates) {
  const json::value all = parsed(send("--count 20 --duplicates 19 --id same"));
  EXPECT_EQ(number(all, "accepted"), 1);
  EXPECT_EQ(number(all, "duplicate"), 19);
  EXPECT_EQ(send("--count 20 --duplicates 20").exit_code, 2);
}

TEST_F(SendTest, TheRateIsObserved) {
  const json::value all = parsed(send("--count 11 --rate 100 --concurrency 11"));
  EXPECT_EQ(number(all, "accepted"), 11);
  EXPECT_GE(json::value_to<double>(all.at("seconds")), 0.1);
}

TEST_F(SendTest, AWrongSecretIsRejectedWithAReason) {
  const Ran one = send("--secret whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
  EXPECT_EQ(one.exit_code, 1);
  EXPECT_EQ(parsed(one).at("refused"), "signature-invalid");
  EXPECT_EQ(number(parsed(one), "status"), 401);
  const Ran many = send("--count 5 --secret whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
  EXPECT_EQ(many.exit_code, 1);
  EXPECT_EQ(number(parsed(many).at("refused"), "signature-invalid"), 5);
  EXPECT_EQ(number(parsed(many), "accepted"), 0);
}

TEST_F(SendTest, ABodyComesFromAFileOrHasTheRequestedSize) {
  std::ofstream(server_.directory().file("body")) << R"({ "type" : "a", "n" : 1.0 })";
  EXPECT_EQ(send("--body body").exit_code, 0);
  EXPECT_EQ(number(parsed(send("--body body --count 4 --duplicates 1")), "duplicate"), 1);
  std::ofstream(server_.directory().file("text")) << "not JSON at all";
  EXPECT_EQ(send("--body text").exit_code, 0) << "the id of this preset is in a header";
  EXPECT_EQ(send("--size 100000").exit_code, 0);
  const Ran large = send("--size 2000000");
  EXPECT_EQ(large.exit_code, 1);
  EXPECT_EQ(parsed(large).at("refused"), "body-too-large");
  EXPECT_EQ(send("--body nowhere").exit_code, 1);
}

TEST_F(SendTest, AServerThatIsDownIsReported) {
  server_.stop();
  const Ran one = send("");
  EXPECT_EQ(one.exit_code, 1);
  EXPECT_THAT(one.errors, HasSubstr("connection refused; is 'hapax serve' running there?"));
  EXPECT_EQ(parsed(one).at("error").at("outcome"), "did-not-happen");
  const Ran many = send("--count 3 --retry 1");
  EXPECT_EQ(many.exit_code, 1);
  EXPECT_EQ(number(parsed(many), "failed"), 3);
  EXPECT_EQ(number(parsed(many), "retried"), 3);
  EXPECT_THAT(many.out, HasSubstr("is 'hapax serve' running there?"));
}

TEST(SendPresets, TheIdIsWhereTheProviderPutsIt) {
  const RunningServer server(
      "[[source]]\nname = 'github'\npreset = 'github'\nsecrets = ['s']\n"
      "[[source]]\nname = 'stripe'\npreset = 'stripe'\nsecrets = ['whsec_x']\n"
      "[[source]]\nname = 'sendgrid'\npreset = 'segment-batch'\nsecrets = ['s']\n"
      "[[source]]\nname = 'mailgun'\npreset = 'mailgun'\nsecrets = ['s']\n"
      "[[source]]\nname = 'linear'\npreset = 'linear'\nsecrets = ['s']\n"
      "[[source]]\nname = 'adyen'\npreset = 'adyen'\nsecrets = ['00112233']\n");
  for (const std::string source : {"github", "stripe", "sendgrid", "mailgun", "linear", "adyen"}) {
    const Ran ran = test::run_hapax(
        server.directory(), "send --timeout 600 --count 6 --duplicates 2 --source " + source +
                                " --url " + server.url(source));
    EXPECT_EQ(ran.exit_code, 0) << source << ": " << ran.out << ran.errors;
    const json::value all = parsed(ran);
    EXPECT_EQ(number(all, "accepted"), 4) << source << ran.out;
    EXPECT_EQ(number(all, "duplicate"), 2) << source << ran.out;
  }
}

TEST(SendArguments, ReportMissingValues) {
  const test::TempDir directory;
  const auto send = [&](const std::string& arguments) {
    return test::run_hapax(directory, "send " + arguments);
  };
  EXPECT_THAT(send("").errors, HasSubstr("create one with 'hapax init'"));
  EXPECT_THAT(send("--preset github --secret s").errors, HasSubstr("--url is required"));
  EXPECT_THAT(send("--preset github --url http://127.0.0.1:1/in/x").errors,
              HasSubstr("give one secret"));
  EXPECT_EQ(send("--concurrency 257").exit_code, 2);
  EXPECT_EQ(send("--count 0").exit_code, 2);
  EXPECT_EQ(test::run_hapax(directory, "init").exit_code, 0);
  EXPECT_THAT(send("--source other").errors, HasSubstr("it has demo"));
  EXPECT_EQ(send("--url ftp://a/").exit_code, 2);
}

}  // namespace
}  // namespace hapax
