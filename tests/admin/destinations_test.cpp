// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "admin/api.hpp"
#include "admin/config_view.hpp"

#include <gmock/gmock.h>

namespace hapax::test {
namespace {

namespace json = boost::json;

class AdminDestinations : public testing::TestWithParam<StoreKind> {
 protected:
  Api api_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(, AdminDestinations, testing::Values(StoreKind::memory),
                         [](const auto& kind) {
                           return kind.param == StoreKind::memory ? "Memory" : "Sqlite";
                         });

TEST_P(AdminDestinations, AreListedEvenIfTheConfigurationDoesNotDefineThem) {
  admit(api_, {{.id = "1", .destinations = {"work", "former"}}});
  api_.clock().advance(std::chrono::seconds(7));
  const json::value whole = api_.get("/v1/destinations").json();
  const json::array& list = whole.at("destinations").as_array();
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].at("name"), "work");
  EXPECT_EQ(list[0].at("kind"), "pull");
  EXPECT_EQ(list[0].at("defined"), true);
  EXPECT_EQ(list[0].at("pending"), 1);
  EXPECT_EQ(list[0].at("oldest_age_s"), 7);
  EXPECT_EQ(list[0].at("breaker"), nullptr);
  EXPECT_EQ(list[1].at("name"), "former");
  EXPECT_EQ(list[1].at("kind"), nullptr);
  EXPECT_EQ(list[1].at("defined"), false);
  EXPECT_EQ(list[1].at("pending"), 1);
}

TEST_P(AdminDestinations, ArePausedInTheStoreAndResumed) {
  admit(api_, {{.id = "1", .destinations = {"work"}}});
  const ApiAnswer paused = api_.post("/v1/destinations/work/pause", "");
  EXPECT_EQ(paused.json(), json::parse(R"({"name":"work","paused":true})"));
  EXPECT_EQ(api_.post("/v1/destinations/work/pause", "").status, 200);
  EXPECT_EQ(api_.driver().catalog->paused().value().size(), 1U);
  EXPECT_EQ(api_.get("/v1/destinations").json().at("destinations").at(0).at("paused"), true);
  EXPECT_EQ(api_.post("/v1/destinations/work/resume", "").json(),
            json::parse(R"({"name":"work","paused":false})"));
  EXPECT_TRUE(api_.driver().catalog->paused().value().empty());
}

TEST_P(AdminDestinations, UnknownPathsAre404) {
  const ApiAnswer answer = api_.post("/v1/destinations/nobody/pause", "");
  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(answer.problem(), "destination-unknown");
  EXPECT_EQ(api_.get("/v1/destinations?x=1").status, 400);
}

}  // namespace
}  // namespace hapax::test
