// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "gateway/serve.hpp"
#include "gateway/unclaimed_rate.hpp"
#include "support/eventually.hpp"
#include "support/postgres.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>

// Observe mode: results are reported, and nothing is rejected or suppressed.
namespace hapax::test {

namespace {

using gateway::UnclaimedRate;
using testing::HasSubstr;
using testing::Not;

std::string config(const std::string& store_url, bool enforce) {
  std::string text = demo_config(store_url);
  const std::string at = "deliver_to";
  return text.insert(text.find(at), enforce ? "enforce = true\n" : "enforce = false\n");
}

std::vector<store::EventRow> all_events(const store::Driver& driver) {
  std::vector<store::EventRow> rows;
  store::EventQuery query{.limit = store::kMaxPage};
  for (;;) {
    const Result<store::EventPage> page = driver.catalog->events(query);
    EXPECT_TRUE(page);
    if (!page) return rows;
    rows.insert(rows.end(), page->events.begin(), page->events.end());
    if (!page->next) return rows;
    query.before = *page->next;
  }
}

std::vector<OwnedHeader> signed_for(const std::string& id, const std::string& body) {
  return signed_headers("standard-webhooks", kDemoSecret, body, id);
}

std::string body_of(int n) {
  return "{\"n\":" + std::to_string(n) + "}";
}

// Sends events, of which about one in 20 arrivals is forged and one in five is a duplicate.
void send_mixed(Serve& serve, int events, int& forged, int& duplicates) {
  RawClient client(serve.port());
  for (int i = 0; i < events; ++i) {
    const std::string id = "evt-" + std::to_string(i);
    if (i % 15 == 0) {  // the forged request has the id of a later genuine event
      const HttpAnswer answer = client.post("/in/demo", signed_for(id, "another"), body_of(i));
      EXPECT_THAT(answer.body, HasSubstr("\"would\":\"reject\"")) << answer.body;
      ++forged;
    }
    const auto headers = signed_for(id, body_of(i));
    const HttpAnswer first = client.post("/in/demo", headers, body_of(i));
    EXPECT_THAT(first.body, HasSubstr("\"duplicate\":false}")) << first.body;
    if (i % 4 != 0) continue;
    const HttpAnswer again = client.post("/in/demo", headers, body_of(i));
    EXPECT_THAT(again.body, HasSubstr("\"would\":\"duplicate\"")) << again.body;
    ++duplicates;
  }
}

void observe_then_enforce(const std::string& store_url, const std::string& view_url) {
  Serve serve(config(store_url, false));
  const std::string url = view_url.empty() ? "sqlite:" + serve.file("hapax.db") : view_url;
  const int events = rounds(3000);
  int forged = 0;
  int duplicates = 0;
  send_mixed(serve, events, forged, duplicates);

  StoreView view(url);
  std::map<Would, int> seen;
  std::set<std::string> claimed;
  for (const store::EventRow& each : all_events(view.driver())) {
    ++seen[each.would];
    EXPECT_EQ(each.status, DeliveryState::pending);  // delivered in any case
    if (each.would != Would::none) continue;
    EXPECT_TRUE(claimed.insert(each.id).second) << each.id;
  }
  EXPECT_EQ(seen[Would::none], events);
  EXPECT_EQ(seen[Would::reject], forged);
  EXPECT_EQ(seen[Would::duplicate], duplicates);

  serve.reload(config(store_url, true));
  RawClient client(serve.port());
  // A forged request must not claim an id before the genuine sender.
  const auto forge = [&](const std::string& id) {
    return client.post("/in/demo", signed_for(id, "other"), "forged");
  };
  EXPECT_TRUE(eventually([&] { return forge("later").status == 401; }));
  EXPECT_THAT(serve.post(client, "later", "true").body, HasSubstr("\"duplicate\":false"));
  EXPECT_THAT(serve.post(client, "new", "true").body, HasSubstr("\"duplicate\":false"));
  EXPECT_EQ(serve.post(client, "evt-0", body_of(0)).header("Hapax-Duplicate"), "true");
}

TEST(ObserveTest, ReportsTheHypotheticalResultAndClaimsNoForgedId) {
  observe_then_enforce("sqlite:hapax.db", "");
}

TEST(ObserveTest, ReportsTheHypotheticalResultOnPostgres) {
  PostgresDatabase database;
  observe_then_enforce(database.url(), database.url());
}

class ObservedTest : public testing::Test {
 protected:
  StoreView view() { return StoreView("sqlite:" + serve_.file("hapax.db")); }

  Serve serve_{config("sqlite:hapax.db", false) +
               "[[source]]\nname = \"many\"\npreset = \"standard-webhooks\"\nsecrets = [\"" +
               kDemoSecret +
               "\"]\nid = \"json:/id\"\nsplit = \"json:/*\"\nsplit_max = 3\nenforce = false\n"
               "[[source]]\nname = \"lab\"\npreset = \"gitlab-token\"\nsecrets = [\"right\"]\n"
               "id = \"json:/id\"\nenforce = false\n"
               "[[source]]\nname = \"large\"\npreset = \"standard-webhooks\"\nsecrets = [\"" +
               kDemoSecret + "\"]\nmax_body = \"16MiB\"\nenforce = false\n"};
};

TEST_F(ObservedTest, IsReportedByReadyzLogAndCheck) {
  RawClient admin(serve_.admin_port());
  EXPECT_THAT(admin.get("/readyz").body,
              HasSubstr(R"({"ready":true,"reasons":[],"observe":["demo","lab","large","many"]})"));
  EXPECT_THAT(serve_.log(), HasSubstr("observe mode"));
  const std::string output = serve_.file("output");
  const std::string command = std::string(HAPAX_BINARY) + " check -c " + serve_.file("hapax.toml") +
                              " > " + output + " 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0);
  std::ifstream file(output);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(text, HasSubstr("observe mode"));
}

TEST_F(ObservedTest, StoresARejectedRequestWithItsClaimedIdentity) {
  RawClient client(serve_.port());
  EXPECT_THAT(client.post("/in/demo", {}, "no signature").body, HasSubstr("\"would\":\"reject\""));
  const std::string body = R"([{"id":"1"},{"id":"2"}])";
  EXPECT_THAT(client.post("/in/many", {}, body).body,
              HasSubstr(R"("would":"reject"}],"accepted":1)"));
  EXPECT_EQ(client.post("/in/lab", {{"X-Gitlab-Token", "stolen"}}, R"({"id":"7"})").status, 200);
  StoreView store = view();
  const std::vector<store::EventRow> rows = all_events(store.driver());
  ASSERT_EQ(rows.size(), 3U);
  for (const store::EventRow& each : rows) EXPECT_EQ(each.would, Would::reject);
  EXPECT_EQ(rows[0].id, "7");
  EXPECT_THAT(store.driver().catalog->event(rows[0].no)->value->headers, Not(HasSubstr("stolen")));
  EXPECT_EQ(store.driver().catalog->body(rows[1].no, store::BodyOf::event)->value, body);
}

TEST_F(ObservedTest, OnlyKnownItemsOfASplitRequestAreMarked) {
  RawClient client(serve_.port());
  const auto post = [&](const std::string& body) {
    return client.post("/in/many", signed_for("r", body), body).body;
  };
  EXPECT_THAT(post(R"([{"id":"1"},{"id":"2"}])"), HasSubstr("\"accepted\":2"));
  const std::string second = post(R"([{"id":"2"},{"id":"3"}])");
  EXPECT_THAT(second, HasSubstr(R"("id":"2","duplicate":true,"would":"duplicate"})"));
  EXPECT_THAT(second, HasSubstr(R"("id":"3","duplicate":false})"));
  StoreView store = view();
  EXPECT_EQ(all_events(store.driver()).size(), 4U);
}

TEST_F(ObservedTest, AnItemWithoutAnIdIsStored) {
  RawClient client(serve_.port());
  const std::string body = R"([{"id":"1"},{"no":"id"}])";
  const std::string answer = client.post("/in/many", signed_for("r", body), body).body;
  EXPECT_THAT(answer, HasSubstr(R"("would":"reject"}],"accepted":2,"duplicates":0,"rejected":0)"));
  StoreView store = view();
  const std::vector<store::EventRow> rows = all_events(store.driver());
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].would, Would::reject);
  EXPECT_EQ(store.driver().catalog->body(rows[0].no, store::BodyOf::event)->value,
            R"({"no":"id"})");
}

TEST_F(ObservedTest, LimitsApply) {
  RawClient client(serve_.port());
  const std::string body = "[1,2,3,4]";
  EXPECT_EQ(client.post("/in/many", signed_for("r", body), body).status, 413);
  EXPECT_EQ(RawClient(serve_.port()).post("/in/demo", {}, std::string(1024 * 1024 + 1, 'x')).status,
            413);
}

// The cost of an unverified body grows with its size: two bodies of the maximal size are accepted
// at once, then one per 40 seconds.
TEST_F(ObservedTest, UnverifiedEventsAreRateLimited) {
  const std::string body(16 * 1024 * 1024, 'x');
  RawClient client(serve_.port());
  HttpAnswer answer = client.post("/in/large", {}, body);
  int stored = 0;
  while (answer.status == 200 && ++stored < 50) answer = client.post("/in/large", {}, body);
  EXPECT_GE(stored, 2);
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.problem(), "queue-full");
  EXPECT_EQ(answer.header("Retry-After"), "1");
  // Genuine requests are not limited.
  const auto post_true = [&] {
    return RawClient(serve_.port()).post("/in/large", signed_for("true", body), body).body;
  };
  EXPECT_THAT(post_true(), HasSubstr("\"duplicate\":false}"));
  EXPECT_THAT(post_true(), HasSubstr("\"duplicate\":true"));
}

TEST(UnclaimedRateTest, AllowsABurstAndThenARate) {
  ManualClock clock;
  UnclaimedRate rate(clock);
  const SourceNo one(1);
  EXPECT_FALSE(rate.take(one, static_cast<std::size_t>(UnclaimedRate::kAtOnce) + 1, 0));
  EXPECT_TRUE(rate.take(one, static_cast<std::size_t>(UnclaimedRate::kAtOnce), 0));
  EXPECT_FALSE(rate.take(one, 1, 0));
  EXPECT_TRUE(rate.take(SourceNo(2), 1, 0));
  clock.advance(std::chrono::seconds(1));
  EXPECT_TRUE(rate.take(one, 50, 50 * UnclaimedRate::kUnitBytes));
  EXPECT_FALSE(rate.take(one, 1, 0));
  clock.advance(std::chrono::hours(1));
  EXPECT_TRUE(rate.take(one, static_cast<std::size_t>(UnclaimedRate::kAtOnce), 0));
  EXPECT_FALSE(rate.take(one, 1, 0));
}

}  // namespace

}  // namespace hapax::test
