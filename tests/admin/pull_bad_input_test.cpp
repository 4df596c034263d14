// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "admin/api.hpp"
#include "model/ids.hpp"

#include <gmock/gmock.h>

namespace hapax::test {
namespace {

namespace json = boost::json;
using testing::HasSubstr;

class AdminPullBadInput : public testing::TestWithParam<StoreKind> {
 protected:
  std::string complaint(const std::string& target, const std::string& body) {
    const ApiAnswer answer = api_.post(target, body);
    EXPECT_EQ(answer.status, 400) << body << answer.body;
    if (answer.status != 400) return "";
    EXPECT_EQ(answer.problem(), "bad-request");
    return answer.detail();
  }
  std::string status_of(const std::string& delivery, const std::string& fence) {
    const ApiAnswer answer =
        api_.post("/v1/settle", R"({"results":[{"delivery":")" + delivery + R"(","fence":)" +
                                    fence + R"(,"outcome":"ack"}]})");
    EXPECT_EQ(answer.status, 200) << answer.body;
    const json::value value = answer.json();
    EXPECT_EQ(value.at("results").at(0).at("delivery").as_string(), delivery);
    return std::string(value.at("results").at(0).at("status").as_string());
  }

  Api api_{GetParam(), {"work", "audit", "pushed"}};
};

INSTANTIATE_TEST_SUITE_P(, AdminPullBadInput, testing::Values(StoreKind::memory),
                         [](const auto& kind) {
                           return kind.param == StoreKind::memory ? "Memory" : "Sqlite";
                         });

TEST_P(AdminPullBadInput, LeaseErrorsNameARemedy) {
  const auto lease = [&](const std::string& body) { return complaint("/v1/lease", body); };
  EXPECT_THAT(lease(""), HasSubstr("the body is not JSON"));
  EXPECT_THAT(lease("[]"), HasSubstr("the body must be a JSON object; write {\"destination\""));
  EXPECT_THAT(lease("{}"), HasSubstr("destination is required"));
  EXPECT_THAT(lease(R"({"destination":1})"), HasSubstr("destination must be a string"));
  EXPECT_THAT(lease(R"({"destination":"work","wait":1})"), HasSubstr("unknown member 'wait'"));
  for (const char* each : {"0", "-1", "1001", "1.5", "\"1\"", "null", "18446744073709551615"}) {
    EXPECT_THAT(lease(R"({"destination":"work","max":)" + std::string(each) + "}"),
                HasSubstr("max must be an integer from 1 to 1000"))
        << each;
  }
  for (const char* each : {"0", "0.9", "-1", "43201", "1e300", "\"30\"", "null", "true"}) {
    EXPECT_THAT(lease(R"({"destination":"work","lease_s":)" + std::string(each) + "}"),
                HasSubstr("lease_s must be a number of seconds from 1 to 43200"))
        << each;
  }
  for (const char* each : {"-0.1", "61", "1e30", "[]"}) {
    EXPECT_THAT(lease(R"({"destination":"work","wait_s":)" + std::string(each) + "}"),
                HasSubstr("wait_s must be a number of seconds from 0 to 60"))
        << each;
  }
  EXPECT_EQ(api_.post("/v1/lease?max=1", R"({"destination":"work"})").status, 400);
}

TEST_P(AdminPullBadInput, LeaseRejectsUnknownAndPushDestinations) {
  const ApiAnswer unknown = api_.post("/v1/lease", R"({"destination":"nowhere"})");
  EXPECT_EQ(unknown.status, 404);
  EXPECT_EQ(unknown.problem(), "not-found");
  EXPECT_EQ(unknown.detail(), "Unknown destination 'nowhere'.");
  const ApiAnswer pushed = api_.post("/v1/lease", R"({"destination":"pushed"})");
  EXPECT_EQ(pushed.status, 409);
  EXPECT_EQ(pushed.problem(), "not-pull");
  EXPECT_THAT(pushed.detail(), HasSubstr("kind = \"pull\""));
}

TEST_P(AdminPullBadInput, SettleErrorsNameARemedy) {
  const auto settle = [&](const std::string& body) { return complaint("/v1/settle", body); };
  const auto with = [](const std::string& members) { return R"({"results":[{)" + members + "}]}"; };
  EXPECT_THAT(settle("{"), HasSubstr("the body is not JSON"));
  EXPECT_THAT(settle("{}"), HasSubstr("results is required; write {\"results\""));
  EXPECT_THAT(settle(R"({"results":{}})"), HasSubstr("results must be a list"));
  EXPECT_THAT(settle(R"({"results":[1]})"), HasSubstr("results[0] must be a JSON object"));
  EXPECT_THAT(settle(with("")), HasSubstr("results[0].delivery is required"));
  EXPECT_THAT(settle(with(R"("delivery":"x")")), HasSubstr("results[0].fence is required"));
  EXPECT_THAT(settle(with(R"("delivery":"x","fence":"1")")),
              HasSubstr("results[0].fence must be an integer"));
  EXPECT_THAT(settle(with(R"("delivery":"x","fence":1)")), HasSubstr("outcome is required"));
  EXPECT_THAT(settle(with(R"("delivery":"x","fence":1,"outcome":"done")")),
              HasSubstr(R"(results[0].outcome must be "ack", "retry" or "drop")"));
  EXPECT_THAT(settle(with(R"("delivery":"x","fence":1,"outcome":"ack","retry_after_s":1)")),
              HasSubstr("only valid with outcome \"retry\""));
  EXPECT_THAT(settle(with(R"("delivery":"x","fence":1,"outcome":"retry","retry_after_s":86401)")),
              HasSubstr("retry_after_s must be a number of seconds from 0 to 86400"));
  EXPECT_THAT(settle(with(R"("delivery":"x","fence":1,"outcome":"retry","error":1)")),
              HasSubstr("error must be a string"));
  std::string many = "1";
  for (int i = 0; i < 1000; ++i) many += ",1";
  EXPECT_THAT(settle(R"({"results":[)" + many + "]}"), HasSubstr("more than 1000 entries"));
  EXPECT_EQ(api_.post("/v1/settle", R"({"results":[]})").body, "{\"results\":[]}\n");
}

TEST_P(AdminPullBadInput, RenewErrorsNameARemedy) {
  const auto renew = [&](const std::string& body) { return complaint("/v1/renew", body); };
  EXPECT_THAT(renew("{}"), HasSubstr("leases is required; write {\"leases\""));
  EXPECT_THAT(renew(R"({"leases":[{"delivery":"x"}]})"), HasSubstr("leases[0].fence is required"));
  EXPECT_THAT(renew(R"({"leases":[],"lease_s":0})"), HasSubstr("from 1 to 43200"));
  EXPECT_EQ(api_.post("/v1/renew", R"({"leases":[]})").body, "{\"results\":[]}\n");
}

TEST_P(AdminPullBadInput, InvalidNamesAndFencesAreAnsweredPerEntry) {
  admit(api_, {{.id = "1", .destinations = {"work"}}});
  const json::value leased = api_.post("/v1/lease", R"({"destination":"work"})").json();
  const json::value& one = leased.at("deliveries").at(0);
  const std::string delivery(one.at("delivery").as_string());
  const std::int64_t fence = one.at("fence").as_int64();
  for (const char* each : {"", "x", "d0", "../../etc", "\xc3\xa9"}) {
    EXPECT_EQ(status_of(each, "1"), "unknown") << each;
  }
  EXPECT_EQ(status_of(to_text(DeliveryRef{EventNo(12345), DeliveryNo(1)}), "1"), "unknown");
  for (const std::int64_t each : {fence - 1, fence + 1, std::int64_t{0}, std::int64_t{-1},
                                  std::numeric_limits<std::int64_t>::max()}) {
    EXPECT_EQ(status_of(delivery, std::to_string(each)), "stale") << each;
  }
  // An invalid entry does not prevent the others from being settled.
  const ApiAnswer both =
      api_.post("/v1/settle",
                R"({"results":[{"delivery":"x","fence":1,"outcome":"ack"},{"delivery":")" +
                    delivery + R"(","fence":)" + std::to_string(fence) + R"(,"outcome":"ack"}]})");
  EXPECT_EQ(both.body, R"({"results":[{"delivery":"x","status":"unknown"},{"delivery":")" +
                           delivery + R"(","status":"ok"}]})" + "\n");
}

TEST_P(AdminPullBadInput, AnErrorIsTruncatedAtACharacterBoundary) {
  const auto events = admit(api_, {{.id = "1", .destinations = {"work"}}});
  const json::value leased = api_.post("/v1/lease", R"({"destination":"work"})").json();
  const json::value& one = leased.at("deliveries").at(0);
  std::string error = "x";
  for (int i = 0; i < 300; ++i) error += "\xc3\xa9";
  const ApiAnswer answer =
      api_.post("/v1/settle", R"({"results":[{"delivery":)" + json::serialize(one.at("delivery")) +
                                  R"(,"fence":)" + json::serialize(one.at("fence")) +
                                  R"(,"outcome":"retry","error":")" + error + R"("}]})");
  EXPECT_EQ(answer.status, 200) << answer.body;
  const json::value event = api_.get("/v1/events/" + events[0]).json();
  EXPECT_EQ(event.at("attempts").at(0).at("error").as_string(), error.substr(0, 255));
}

}  // namespace
}  // namespace hapax::test
