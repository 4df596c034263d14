// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "admin/api.hpp"
#include "admin/api/resources.hpp"
#include "admin/idempotency_key.hpp"
#include "model/ids.hpp"
#include "support/eventually.hpp"

#include <gmock/gmock.h>

#include <future>
#include <set>

// Replay requests with an Idempotency-Key, over the memory store.
// tests/deliver/replay_story_test.cpp covers killed servers and two nodes.
namespace hapax::test {

namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

namespace json = boost::json;

constexpr const char* kAsNew = R"({"as":"new"})";
constexpr const char* kAllAsNew = R"({"filter":{},"as":"new","rate":1000})";

class ReplayKeys : public testing::TestWithParam<StoreKind> {
 protected:
  ApiAnswer post(const std::string& target, const std::string& body,
                 const std::vector<std::string>& keys) {
    std::vector<std::string> headers{"Host: localhost",
                                     std::string("Authorization: Bearer ") + kToken,
                                     "Content-Length: " + std::to_string(body.size())};
    for (const std::string& each : keys) headers.push_back("Idempotency-Key: " + each);
    ApiAnswer answer = api_.raw("POST", target, headers, body);
    const std::string pattern = target == "/v1/replay" ? target : "/v1/events/{event}/replay";
    EXPECT_THAT(undocumented(document_, "POST", pattern, answer.status,
                             answer.headers["content-type"], answer.body),
                IsEmpty());
    return answer;
  }
  ApiAnswer one(const std::string& event, const std::string& body, const std::string& key) {
    return post("/v1/events/" + event + "/replay", body, {key});
  }
  ApiAnswer many(const std::string& body, const std::string& key) {
    return post("/v1/replay", body, {key});
  }
  std::string make(const std::string& id) {
    return admit(api_, {{.id = id, .destinations = {"work"}}}).at(0);
  }
  void settle_next(const Disposition& disposition) {
    EXPECT_NE(settle_first(api_, "work", disposition), "");
  }
  std::string states(const std::string& event) { return states_of(api_, event); }
  void until_done(const ApiAnswer& begun) {
    const std::string replay(begun.json().at("replay").as_string());
    EXPECT_EQ(ended_replay(api_, replay).at("state").as_string(), "done");
  }

  Api api_{GetParam()};
  const json::value document_ = json::parse(admin::openapi_document());
};

TEST_P(ReplayKeys, ARepeatedRequestGetsTheSameResponseAndHasNoEffect) {
  const std::string event = make("a");
  settle_next(Ack{});
  const ApiAnswer first = one(event, kAsNew, "k1");
  EXPECT_EQ(first.status, 200) << first.body;
  EXPECT_EQ(one(event, kAsNew, "k1").body, first.body);
  EXPECT_EQ(states(event), "completed pending");
  settle_next(Ack{});
  const ApiAnswer again = one(event, kAsNew, "\"k1\"");
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.body, first.body) << "quoted spelling of the key, after completion";
  EXPECT_EQ(states(event), "completed completed");
  EXPECT_NE(one(event, kAsNew, "k2").body, first.body);
  EXPECT_EQ(states(event), "completed completed pending");
}

TEST_P(ReplayKeys, ARepeatSucceedsAfterTheDeliveryHasCompleted) {
  const std::string event = make("a");
  settle_next(Dead{});
  const ApiAnswer first = one(event, "", "k");
  EXPECT_EQ(first.status, 200);
  settle_next(Ack{});
  const ApiAnswer again = one(event, "", "k");
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.body, first.body);
}

// Dead, replayed, dead again, replayed by another request, dead for the third time: repeating the
// first request replays nothing.
TEST_P(ReplayKeys, ARepeatedRequestDoesNotReplayALaterDeath) {
  const std::string event = make("a");
  settle_next(Dead{});
  const ApiAnswer first = one(event, "", "mine");
  settle_next(Dead{});
  EXPECT_EQ(one(event, "", "another's").status, 200);
  settle_next(Dead{});
  EXPECT_EQ(one(event, "", "mine").body, first.body);
  EXPECT_EQ(states(event), "dead");
}

TEST_P(ReplayKeys, ADifferentRequestWithTheKeyIsRejected) {
  const std::string a = make("a");
  settle_next(Ack{});
  const std::string b = make("b");
  settle_next(Ack{});
  EXPECT_EQ(one(a, kAsNew, "k").status, 200);
  for (const ApiAnswer& each :
       {one(b, kAsNew, "k"), one(a, R"({"as":"new","destination":"work"})", "k"),
        one(a, "", "k")}) {
    EXPECT_EQ(each.status, 422) << each.body;
    EXPECT_EQ(each.problem(), "key-reused");
  }
  EXPECT_EQ(states(a), "completed pending");
  EXPECT_EQ(states(b), "completed");
  EXPECT_EQ(many(kAllAsNew, "k").status, 202) << "keys of different routes are independent";
}

TEST_P(ReplayKeys, ARejectedRequestDoesNotUseTheKey) {
  const std::string event = make("a");
  EXPECT_EQ(one(event, "", "k").problem(), "not-replayable");
  settle_next(Dead{});
  EXPECT_EQ(one(event, R"({"destination":"nobody"})", "k").status, 404);
  EXPECT_EQ(one(event, R"({"destination":"work"})", "k").status, 200);
  EXPECT_EQ(states(event), "pending");
}

TEST_P(ReplayKeys, ABadKeyIsReportedAndChangesNothing) {
  const std::string event = make("a");
  settle_next(Ack{});
  const std::string target = "/v1/events/" + event + "/replay";
  for (const std::string& bad :
       {std::string(), std::string("a b"), std::string("a,b"), std::string("a;b"),
        std::string("\""), std::string("\"\""), std::string("\"a\"b"), std::string("\"a\\"),
        std::string("\"\\a\""), std::string("\"a b\""), std::string("\xc3\xa9"),
        std::string(256, 'k')}) {
    const ApiAnswer answer = post(target, kAsNew, {bad});
    EXPECT_EQ(answer.status, 400) << bad;
    EXPECT_EQ(answer.problem(), "key-malformed") << bad;
    EXPECT_EQ(many(kAllAsNew, bad).problem(), "key-malformed") << bad;
  }
  EXPECT_EQ(post(target, kAsNew, {"k", "k"}).problem(), "key-malformed");
  EXPECT_EQ(states(event), "completed");
  EXPECT_EQ(post(target, kAsNew, {std::string(255, 'k')}).status, 200);
}

TEST_P(ReplayKeys, ARepeatedBulkRequestGetsTheSameJob) {
  const std::string event = make("a");
  settle_next(Ack{});
  const ApiAnswer first = many(kAllAsNew, "k");
  EXPECT_EQ(first.status, 202) << first.body;
  until_done(first);
  settle_next(Ack{});
  const std::string later = make("b");
  const ApiAnswer again = many(kAllAsNew, "k");
  EXPECT_EQ(again.status, 202);
  EXPECT_EQ(again.body, first.body) << "the matches are not counted again";
  EXPECT_EQ(many(R"({"filter":{},"as":"new","rate":999})", "k").problem(), "key-reused");
  EXPECT_EQ(many(R"({"filter":{},"dry_run":true})", "k").problem(), "key-reused");
  EXPECT_EQ(api_.get("/v1/replays").json().at("replays").as_array().size(), 1U);
  EXPECT_EQ(states(event), "completed completed");
}

TEST_P(ReplayKeys, ADryRunDoesNotUseTheKey) {
  make("a");
  settle_next(Ack{});
  EXPECT_EQ(many(R"({"filter":{},"dry_run":true})", "k").status, 200);
  EXPECT_EQ(many(kAllAsNew, "k").status, 202);
}

TEST_P(ReplayKeys, OneOfManyConcurrentRequestsReplays) {
  const std::string event = make("a");
  settle_next(Ack{});
  std::vector<std::future<std::string>> all;
  for (int i = 0; i < 16; ++i) {
    all.push_back(std::async(std::launch::async, [&, i] {
      ApiAnswer answer;
      EXPECT_TRUE(eventually([&] {
        answer = i % 2 == 0 ? one(event, kAsNew, "k") : many(kAllAsNew, "k");
        return answer.status != 503;  // another bulk replay is being counted
      }));
      return answer.body;
    }));
  }
  std::set<std::string> answers;
  for (auto& each : all) answers.insert(each.get());
  EXPECT_EQ(answers.size(), 2U) << "one response for the event, one for the bulk replay";
  const json::value jobs = api_.get("/v1/replays").json();
  EXPECT_EQ(jobs.at("replays").as_array().size(), 1U);
}

TEST_P(ReplayKeys, ReplaysAreListedNewestFirst) {
  make("a");
  std::vector<std::string> begun;
  for (int i = 0; i < 8; ++i) {
    api_.clock().advance(std::chrono::milliseconds(1));
    const ApiAnswer answer = many(R"({"filter":{"id":"none"}})", "k" + std::to_string(i));
    begun.emplace(begun.begin(), answer.json().at("replay").as_string());
  }
  std::vector<std::string> listed;
  const json::value jobs = api_.get("/v1/replays").json();
  for (const json::value& each : jobs.at("replays").as_array()) {
    listed.emplace_back(each.at("replay").as_string());
  }
  EXPECT_EQ(listed, begun);
}

INSTANTIATE_TEST_SUITE_P(Stores, ReplayKeys, testing::Values(StoreKind::memory),
                         [](const auto& store) {
                           return store.param == StoreKind::memory ? "Memory" : "Sqlite";
                         });

TEST(IdempotencyKeyTest, AcceptsTokensAndQuotedStrings) {
  const auto read = [](std::string_view value) {
    http::Head head;
    head.headers = {{"Host", "x"}, {"idempotency-KEY", value}};
    return admin::idempotency_key(head).value;
  };
  EXPECT_EQ(read("a-B_9~!"), "a-B_9~!");
  EXPECT_EQ(read("\"a\\\"\\\\,;\""), "a\"\\,;");
  EXPECT_EQ(read("\"a\";n=1"), "a") << "parameters are ignored";
  EXPECT_FALSE(admin::idempotency_key({}).value);
  EXPECT_FALSE(admin::idempotency_key({}).malformed);
}

}  // namespace

}  // namespace hapax::test
