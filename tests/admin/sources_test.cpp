// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "admin/api.hpp"
#include "admin/config_view.hpp"

#include <gmock/gmock.h>

namespace hapax::test {
namespace {

namespace json = boost::json;
using std::chrono::seconds;
using testing::StartsWith;

class AdminCounts : public testing::TestWithParam<StoreKind> {
 protected:
  Api api_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(, AdminCounts, testing::Values(StoreKind::memory), [](const auto& kind) {
  return kind.param == StoreKind::memory ? "Memory" : "Sqlite";
});

TEST_P(AdminCounts, ShowTheSourcesOfTheConfiguration) {
  admit(api_, {{.id = "1"}, {.id = "2", .source = "former"}});
  const json::value whole = api_.get("/v1/sources").json();
  const json::array& sources = whole.at("sources").as_array();
  ASSERT_EQ(sources.size(), 2U);
  json::object demo = sources[0].as_object();
  EXPECT_THAT(std::string(demo.at("last_seen_at").as_string()), StartsWith("2023-11-14T22:13:2"));
  demo.erase("last_seen_at");
  EXPECT_EQ(demo, json::parse(R"({"name":"demo","preset":"stripe","id_signed":true,
      "time_signed":true,"splits":false,"enforce":true,"tenants":[],"deliver_to":["work"],"remember_s":2592000,
      "keep_s":604800,"keep_dead_s":2592000,"secrets":[]})"));
  EXPECT_EQ(sources[1].at("name"), "quiet");
  EXPECT_EQ(sources[1].at("preset"), nullptr);
  EXPECT_EQ(sources[1].at("id_signed"), nullptr);
  EXPECT_EQ(sources[1].at("last_seen_at"), nullptr);
}

TEST_P(AdminCounts, CountPendingDeliveries) {
  admit(api_, {{.id = "1", .destinations = {"work", "former"}},
               {.id = "2", .source = "other", .destinations = {"work"}}});
  const store::LeaseRequest request{
      .from = destination_no(api_, "work"), .max = 1, .lease = seconds(30), .holder = {}};
  ASSERT_TRUE(api_.driver().queue->write({.lease = std::span(&request, 1)}).lease);
  const json::value whole = api_.get("/v1/stats").json();
  const json::array& destinations = whole.at("destinations").as_array();
  ASSERT_EQ(destinations.size(), 2U);
  for (const json::value& each : destinations) {
    const bool work = each.at("destination") == "work";
    EXPECT_EQ(each.at("pending"), 1) << work;
    EXPECT_EQ(each.at("leased"), work ? 1 : 0);
    EXPECT_EQ(each.at("dead"), 0);
    EXPECT_EQ(each.at("kind"), work ? json::value("pull") : json::value(nullptr));
    EXPECT_NE(each.at("oldest_due_at"), nullptr);
  }
  EXPECT_EQ(whole.at("sources").as_array().size(), 2U);
}

TEST_P(AdminCounts, EmptyDestinationsCountAsZero) {
  const json::value whole = api_.get("/v1/stats").json();
  ASSERT_EQ(whole.at("destinations").as_array().size(), 1U);
  EXPECT_EQ(whole.at("destinations").at(0).at("destination"), "work");
  EXPECT_EQ(whole.at("destinations").at(0).at("pending"), 0);
  EXPECT_EQ(whole.at("destinations").at(0).at("oldest_due_at"), nullptr);
  EXPECT_TRUE(whole.at("sources").as_array().empty());
}

TEST(AdminConfigView, SourceViewMatchesTheConfiguredSource) {
  const Preset* stripe = preset("stripe");
  const std::vector<std::string> secrets{"whsec_x"};
  gateway::Source source{.name = "pay",
                         .preset = stripe,
                         .secrets = {},
                         .key_id = {},
                         .parameters = {},
                         .verifier = Verifier::make(stripe->verify, secrets).value(),
                         .identifier = Identifier::make(stripe->identity).value(),
                         .secret_headers = {},
                         .ack = {},
                         .deliver_to = {"work"}};
  admin::SourceView shown = admin::source_view(source);
  EXPECT_EQ(shown.name, "pay");
  EXPECT_EQ(shown.preset, "stripe");
  EXPECT_EQ(shown.id_signed, stripe->id_signed);
  EXPECT_EQ(shown.deliver_to, source.deliver_to);
  EXPECT_EQ(shown.keep, source.keep);
  std::vector<admin::SourceView> among;
  source.secrets = {"1", "2"};
  add_source_view(source, among);
  source.tenant = "acme";
  source.secrets = {"3"};
  add_source_view(source, among);
  ASSERT_EQ(among.size(), 1U);
  ASSERT_EQ(among.front().secrets.size(), 2U);
  EXPECT_EQ(among.front().secrets[0].count, 2U);
  EXPECT_EQ(among.front().secrets[1].tenant, "acme");
  EXPECT_EQ(among.front().secrets[1].count, 1U);
  source.preset = nullptr;
  shown = admin::source_view(source);
  EXPECT_EQ(shown.preset, "");
  EXPECT_EQ(shown.id_signed, std::nullopt);
}

}  // namespace
}  // namespace hapax::test
