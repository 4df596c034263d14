// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "admin/api.hpp"

#include <gmock/gmock.h>

namespace hapax::test {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

class AdminDedup : public testing::TestWithParam<StoreKind> {
 protected:
  std::string claim(const std::string& body) { return api_.post("/v1/dedup", body).body; }
  std::string complaint(const std::string& body) {
    const ApiAnswer answer = api_.post("/v1/dedup", body);
    EXPECT_EQ(answer.status, 400) << body << answer.body;
    EXPECT_EQ(answer.problem(), "bad-request");
    return answer.detail();
  }

  const std::string fresh_ = "{\"duplicate\":false}\n";
  const std::string duplicate_ = "{\"duplicate\":true}\n";
  Api api_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(, AdminDedup, testing::Values(StoreKind::memory), [](const auto& kind) {
  return kind.param == StoreKind::memory ? "Memory" : "Sqlite";
});

TEST_P(AdminDedup, ClaimsAnIdOnce) {
  const std::string one = R"({"scope":"mail","id":"1","ttl_s":60})";
  EXPECT_EQ(claim(one), fresh_);
  EXPECT_EQ(claim(one), duplicate_);
  EXPECT_EQ(claim(one), duplicate_);
  EXPECT_EQ(claim(R"({"scope":"mail","id":"2","ttl_s":60})"), fresh_);
  EXPECT_EQ(claim(R"({"scope":"post","id":"1","ttl_s":60})"), fresh_);
  api_.clock().advance(seconds(60));
  EXPECT_EQ(claim(one), fresh_);
}

TEST_P(AdminDedup, RemembersForThirtyDaysByDefault) {
  const std::string one = R"({"scope":"mail","id":"1"})";
  EXPECT_EQ(claim(one), fresh_);
  api_.clock().advance(30 * days - seconds(1));
  EXPECT_EQ(claim(one), duplicate_);
  api_.clock().advance(seconds(1));
  EXPECT_EQ(claim(one), fresh_);
}

TEST_P(AdminDedup, AcceptsAnyText) {
  const std::string odd = R"({"scope":"\u0000\"é","id":"\ud83d\ude00\n"})";
  EXPECT_EQ(claim(odd), fresh_);
  EXPECT_EQ(claim(odd), duplicate_);
  const std::string longest =
      R"({"scope":")" + std::string(256, 's') + R"(","id":")" + std::string(1024, 'i') + "\"}";
  EXPECT_EQ(claim(longest), fresh_);
}

TEST_P(AdminDedup, BadRequestsNameARemedy) {
  EXPECT_THAT(complaint(""), HasSubstr("not JSON"));
  for (const char* each : {"{", "x", "{}{}", "\xff", R"({"scope":"\ud800","id":"1"})",
                           "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["}) {
    EXPECT_THAT(complaint(each), HasSubstr("not JSON")) << each;
  }
  for (const char* each : {"[]", "1", "null", "\"x\""}) {
    EXPECT_THAT(complaint(each), HasSubstr("must be a JSON object")) << each;
  }
  EXPECT_THAT(complaint("{}"), HasSubstr("scope is required; write {\"scope\""));
  EXPECT_THAT(complaint(R"({"scope":"s"})"), HasSubstr("id is required"));
  EXPECT_THAT(complaint(R"({"scope":1,"id":"1"})"), HasSubstr("scope must be a string"));
  EXPECT_THAT(complaint(R"({"scope":"s","id":null})"), HasSubstr("id must be a string"));
  EXPECT_THAT(complaint(R"({"scope":"s","id":"1","ttl":5})"), HasSubstr("unknown member 'ttl'"));
  for (const char* each : {"0", "-1", "1.5", "\"60\"", "null", "3153600001", "1e3",
                           "18446744073709551615", "99999999999999999999999", "true"}) {
    EXPECT_THAT(complaint(R"({"scope":"s","id":"1","ttl_s":)" + std::string(each) + "}"),
                HasSubstr("ttl_s must be an integer of seconds from 1 to 3153600000"));
  }
  EXPECT_THAT(complaint(R"({"scope":"","id":"1"})"), HasSubstr("scope"));
  EXPECT_THAT(complaint(R"({"scope":"s","id":""})"), HasSubstr("id"));
  complaint(R"({"scope":")" + std::string(257, 's') + R"(","id":"1"})");
  complaint(R"({"scope":"s","id":")" + std::string(1025, 'i') + "\"}");
  EXPECT_EQ(claim(R"({"scope":"s","id":"1"})"), fresh_) << "invalid requests must not claim an id";
  EXPECT_EQ(api_.post("/v1/dedup?scope=s", R"({"scope":"s","id":"2"})").status, 400);
}

}  // namespace
}  // namespace hapax::test
