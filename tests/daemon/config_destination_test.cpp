// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// [[destination]]: accepted keys and values, and the messages for invalid ones.
#include "daemon/config_file.hpp"

#include <gmock/gmock.h>

namespace hapax::daemon {
namespace {

using deliver::Destination;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class ConfigDestinationTest : public ConfigFile {
 protected:
  ConfigDestinationTest() : ConfigFile({{"URL", "https://h/x?token=hunter2"}}) {}

  Destination good(const std::string& text) {
    const Loaded loaded = load(text);
    for (const Problem& each : loaded.problems) ADD_FAILURE() << each.to_string();
    if (!loaded.config || loaded.config->destinations.size() != 1) return {};
    return loaded.config->destinations[0];
  }
  // The problem of a destination with `line` as its fourth line.
  std::string http_problem(const std::string& line) {
    return problem("[[destination]]\nname = 'a'\nurl = 'http://h/'\n" + line + "\n");
  }
};

TEST_F(ConfigDestinationTest, AUrlIsEnough) {
  const Destination to = good("[[destination]]\nname = 'a'\nurl = 'http://127.0.0.1:3000/hook'\n");
  EXPECT_EQ(to.kind, Destination::Kind::http);
  EXPECT_EQ(to.url.to_string(), "http://127.0.0.1:3000/hook");
  EXPECT_EQ(to.timeout, seconds(15));
  EXPECT_EQ(to.lease, seconds(25));
  EXPECT_EQ(to.concurrency, 16U);
  EXPECT_FALSE(to.rate);
  EXPECT_EQ(to.retry.size(), 12U);
  EXPECT_EQ(to.retry.front(), seconds(1));
  EXPECT_EQ(to.retry.back(), std::chrono::hours(24));
  EXPECT_EQ(to.on_dead, OnDead::skip);
  EXPECT_EQ(to.horizon, milliseconds(0));
  EXPECT_TRUE(to.breaker);
  EXPECT_TRUE(to.allow_private);
}

TEST_F(ConfigDestinationTest, EveryKeyOfAnHttpDestination) {
  const Destination to = good(R"([[destination]]
name = "a"
kind = "http"
url = { env = "URL" }
secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
timeout = "2s"
concurrency = 1000
rate = "30/m"
retry = ["1s", "500ms"]
on_dead = "block"
lease = "12s"
horizon = "1h"
refetch = "https://api/{json:/id}"
breaker = { window = 10, share = 0.25, pause = "2m" }
allow_private = false
)");
  EXPECT_EQ(to.url.target, "/x?token=hunter2");
  EXPECT_THAT(to.secret, HasSubstr("whsec_"));
  EXPECT_EQ(to.timeout, seconds(2));
  EXPECT_EQ(to.concurrency, 1000U);
  EXPECT_EQ(to.rate, 0.5);
  EXPECT_THAT(to.retry, ElementsAre(seconds(1), milliseconds(500)));
  EXPECT_EQ(to.on_dead, OnDead::block);
  EXPECT_EQ(to.lease, seconds(12));
  EXPECT_EQ(to.horizon, std::chrono::hours(1));
  EXPECT_EQ(to.refetch, "https://api/{json:/id}");
  ASSERT_TRUE(to.breaker);
  EXPECT_EQ(to.breaker->window, 10U);
  EXPECT_EQ(to.breaker->share, 0.25);
  EXPECT_EQ(to.breaker->pause, std::chrono::minutes(2));
  EXPECT_EQ(to.breaker->max_pause, std::chrono::minutes(2));
  EXPECT_FALSE(to.allow_private);
}

TEST_F(ConfigDestinationTest, PullDestinationsHaveTheirOwnKeys) {
  const Destination to =
      good("[[destination]]\nname = 'a'\nkind = 'pull'\nmax_abandons = 5\nlease = '1m'\n");
  EXPECT_EQ(to.kind, Destination::Kind::pull);
  EXPECT_EQ(to.max_abandons, 5U);
  EXPECT_EQ(to.lease, seconds(60));
  const Destination plain = good("[[destination]]\nname = 'a'\nkind = 'pull'\n");
  EXPECT_EQ(plain.max_abandons, 3U);
  EXPECT_EQ(plain.lease, seconds(30));
  EXPECT_FALSE(good("[[destination]]\nname='a'\nurl='http://h'\nbreaker = false\n").breaker);
}

TEST_F(ConfigDestinationTest, KeysOfTheOtherKindAreRejectedWithAReason) {
  EXPECT_THAT(problem("[[destination]]\nname = 'a'\nkind = 'pull'\ntimeout = '1s'\n"),
              HasSubstr("4: destination[1].timeout: only valid for kind = \"http\""));
  EXPECT_THAT(http_problem("max_abandons = 3"),
              HasSubstr("4: destination[1].max_abandons: only valid for kind = \"pull\""));
  EXPECT_THAT(problem("[[destination]]\nname = 'a'\nkind = 'sql'\n"),
              HasSubstr("3: destination[1].kind: 'sql' is not available in this version"));
  EXPECT_THAT(problem("[[destination]]\nname = 'a'\nkind = 'push'\nurl='http://h'\n").substr(0, 26),
              HasSubstr("destination[1].kind"));
  EXPECT_THAT(
      problem("[[destination]]\nname = 'a'\n"),
      HasSubstr("1: destination[1].url: required; for example \"http://127.0.0.1:3000/webhooks\""));
  EXPECT_THAT(http_problem("timout = '1s'"), HasSubstr("did you mean 'timeout'?"));
}

TEST_F(ConfigDestinationTest, InvalidUrlsAreRejectedWithoutTheirPasswords) {
  for (const char* url :
       {"ftp://h/", "h", "http://", "http://h:0/", "http://h/ x", "http://h/#x"}) {
    EXPECT_THAT(problem("[[destination]]\nname = 'a'\nurl = '" + std::string(url) + "'\n"),
                HasSubstr("3: destination[1].url:"))
        << url;
  }
  const std::string with_user =
      problem("[[destination]]\nname = 'a'\nurl = 'https://me:hunter2@h/'\n");
  EXPECT_THAT(with_user, HasSubstr("3: destination[1].url: user info in URLs is not supported"));
  EXPECT_THAT(with_user, Not(HasSubstr("hunter2")));
}

TEST_F(ConfigDestinationTest, InvalidValuesAreRejected) {
  for (const char* line : {"concurrency = 0",
                           "concurrency = 1001",
                           "rate = '0/s'",
                           "rate = '10'",
                           "rate = '1/d'",
                           "rate = 5",
                           "retry = '1s'",
                           "retry = ['1']",
                           "retry = ['0s']",
                           "on_dead = 'stop'",
                           "timeout = '1ms'",
                           "timeout = '2h'",
                           "breaker = true",
                           "breaker = { share = 0.0 }",
                           "breaker = { share = 1.5 }",
                           "breaker = { window = 1 }",
                           "breaker = { wndow = 5 }",
                           "breaker = { pause = '1m', max_pause = '1s' }",
                           "refetch = 'https://{json:/h}/'",
                           "allow_private = 'no'",
                           "secret = 'whsec_not base64'",
                           "horizon = 5"}) {
    EXPECT_THAT(http_problem(line), HasSubstr("4: destination[1].")) << line;
  }
  EXPECT_THAT(http_problem("secret = 'whsec_hunter2!'"), Not(HasSubstr("hunter2")));
}

TEST_F(ConfigDestinationTest, TheLeaseMustExceedTheTimeout) {
  EXPECT_THAT(http_problem("lease = '24s'"),
              HasSubstr("4: destination[1].lease: the lease must exceed the timeout, 15s, by 10s; "
                        "use \"25s\" or more"));
  good("[[destination]]\nname = 'a'\nurl = 'http://h'\nlease = '25s'\n");
}

TEST_F(ConfigDestinationTest, TheRetryScheduleMustFitIntoTheHorizon) {
  EXPECT_THAT(http_problem("horizon = '24h'"),
              HasSubstr("4: destination[1].horizon: the retry schedule takes up to"));
  const std::string start = "[[destination]]\nname = 'a'\nurl = 'http://h'\nretry = ['50m']\n";
  good(start + "horizon = '55m'\n");  // 50m and 10 % jitter
  EXPECT_THAT(problem(start + "horizon = '54m'\n"), HasSubstr("takes up to 55m"));
}

}  // namespace
}  // namespace hapax::daemon
