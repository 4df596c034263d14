// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "admin/api.hpp"
#include "model/headers.hpp"

#include <gmock/gmock.h>

// Stored rejects. tests/gateway/rejects_test.cpp re-admits them with a complete server.
namespace hapax::test {

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class RejectsApi : public testing::TestWithParam<StoreKind> {
 protected:
  void add(std::int64_t number, const std::string& source, const std::string& reason) {
    const std::vector<Header> named{{"X-A", "1"}, {"X-A", "\xff"}};
    const std::string headers = encode_headers(named);
    const std::string url = "/in/" + source + "?x=1";
    const store::Reject reject{.no = RejectNo(number),
                               .source = source_no(api_, source),
                               .reason = reason,
                               .detail = "what was wrong",
                               .received = WallTime(std::chrono::seconds(1'700'000'000 + number)),
                               .method = "POST",
                               .url = url,
                               .headers = headers,
                               .body = "bytes",
                               .address = "192.0.2.7"};
    ASSERT_TRUE(api_.driver().rejects->add_rejects({.rejects = std::span(&reject, 1)}));
  }
  std::vector<std::int64_t> listed(const std::string& query) {
    std::vector<std::int64_t> numbers;
    const ApiAnswer answer = api_.get("/v1/rejects" + query);
    EXPECT_EQ(answer.status, 200) << answer.body;
    const boost::json::value page = answer.json();
    next_ = page.at("next").is_null() ? "" : std::string(page.at("next").as_string());
    for (const boost::json::value& each : page.at("rejects").as_array()) {
      const auto number = reject_from(std::string(each.at("reject").as_string()));
      numbers.push_back(number ? number->value() : -1);
    }
    return numbers;
  }

  Api api_{GetParam()};
  std::string next_;
};

TEST_P(RejectsApi, ListsMatchesNewestFirst) {
  for (std::int64_t i = 1; i <= 5; ++i) {
    add(i, i % 2 == 0 ? "demo" : "quiet", i < 4 ? "id-missing" : "signature-invalid");
  }
  EXPECT_THAT(listed(""), ElementsAre(5, 4, 3, 2, 1));
  EXPECT_THAT(listed("?source=demo"), ElementsAre(4, 2));
  EXPECT_THAT(listed("?source=nobody"), IsEmpty());
  EXPECT_THAT(listed("?reason=id-missing"), ElementsAre(3, 2, 1));
  EXPECT_THAT(listed("?since=2023-11-14T22:13:22Z&until=2023-11-14T22:13:24Z"), ElementsAre(3, 2));
  EXPECT_THAT(listed("?limit=3"), ElementsAre(5, 4, 3));
  EXPECT_THAT(listed("?limit=3&after=" + next_), ElementsAre(2, 1));
  EXPECT_EQ(next_, "");
}

TEST_P(RejectsApi, ReportsEvictedAndDroppedCounts) {
  add(1, "demo", "id-missing");
  const store::DroppedRejects dropped{source_no(api_, "demo"), 7};
  ASSERT_TRUE(api_.driver().rejects->add_rejects(
      {.dropped = std::span(&dropped, 1), .ring = {.rejects = 0, .bytes = 0}}));
  add(2, "demo", "id-missing");
  const boost::json::value page = api_.get("/v1/rejects?source=demo").json();
  EXPECT_EQ(
      page.at("counts"),
      boost::json::parse(R"([{"source":"demo","kept":2,"bytes":132,"evicted":0,"dropped":7}])"))
      << page.at("counts");
}

TEST_P(RejectsApi, ShowsHeadersAndBodyOfAReject) {
  add(7, "demo", "signature-invalid");
  const std::string path = "/v1/rejects/" + to_text(RejectNo(7));
  const ApiAnswer answer = api_.get(path);
  ASSERT_EQ(answer.status, 200) << answer.body;
  const boost::json::value reject = answer.json();
  EXPECT_EQ(reject.at("source"), "demo");
  EXPECT_EQ(reject.at("reason"), "signature-invalid");
  EXPECT_EQ(reject.at("detail"), "what was wrong");
  EXPECT_EQ(reject.at("received_at"), "2023-11-14T22:13:27.000000Z");
  EXPECT_EQ(reject.at("address"), "192.0.2.7");
  EXPECT_EQ(reject.at("target"), "/in/demo?x=1");
  EXPECT_EQ(reject.at("headers").as_array().size(), 2U);
  const ApiAnswer body = api_.get(path + "/body");
  EXPECT_EQ(body.status, 200);
  EXPECT_EQ(body.body, "bytes");
}

TEST_P(RejectsApi, UnknownIdsAreNotFound) {
  for (const std::string& id : {to_text(RejectNo(9)), to_text(EventNo(9)), std::string("x")}) {
    EXPECT_EQ(api_.get("/v1/rejects/" + id).status, 404) << id;
    EXPECT_EQ(api_.get("/v1/rejects/" + id + "/body").status, 404) << id;
  }
  EXPECT_EQ(api_.post("/v1/rejects/x/admit", "").status, 404);
}

TEST_P(RejectsApi, RejectsUnknownParameters) {
  EXPECT_THAT(api_.get("/v1/rejects?after=x").detail(), HasSubstr("after"));
  EXPECT_THAT(api_.get("/v1/rejects?status=dead").detail(), HasSubstr("status"));
  for (const char* body :
       {"[]", "{", R"({"filter":1})", R"({"filter":{"tenant":"x"}})", R"({"dry_run":1})",
        R"({"limit":0})", R"({"limit":1001})", R"({"after":"x"})", R"({"force":true})",
        R"({"filter":{"since":"yesterday"}})", R"({"filter":{"source":1}})",
        R"({"filter":{"source":null}})", R"({"filter":{"reason":null}})",
        R"({"filter":{"since":null}})", R"({"filter":{"until":null}})", R"({"filter":null})",
        R"({"dry_run":null})", R"({"limit":null})"}) {
    const ApiAnswer answer = api_.post("/v1/rejects/admit", body);
    EXPECT_EQ(answer.status, 400) << body;
    EXPECT_THAT(answer.detail(), HasSubstr("dry_run")) << "the detail must name valid members";
  }
}

INSTANTIATE_TEST_SUITE_P(Stores, RejectsApi, testing::Values(StoreKind::memory));

}  // namespace

}  // namespace hapax::test
