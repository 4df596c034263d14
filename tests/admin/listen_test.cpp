// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "admin/api.hpp"
#include "base/base64.hpp"

#include <gmock/gmock.h>

#include <map>

// Deliveries to a developer's machine, where `hapax listen` posts to the handler instead of the
// server.
namespace hapax::test {
namespace {

namespace json = boost::json;

class ListenApi : public testing::TestWithParam<StoreKind> {
 protected:
  json::value lease(const std::string& from) {
    return api_.post("/v1/lease", R"({"destination":")" + from + R"("})").json();
  }

  Api api_{GetParam(), {"work", "dev"}};
};

INSTANTIATE_TEST_SUITE_P(Stores, ListenApi, testing::Values(StoreKind::memory));

TEST_P(ListenApi, GetsExactlyTheHeadersThatPushWouldSend) {
  admit(api_, {{.id = "50% \xe9\x01",
                .headers = {{"X-Latin", "\xe9"}, {"X-Utf8", "\xc3\xa9"}, {"Hapax_Id", "forged"}},
                .destinations = {"work", "dev"}}});
  const json::value answer = lease("dev");
  std::map<std::string, std::string> headers;
  for (const json::value& each : answer.at("deliveries").at(0).at("push_headers").as_array()) {
    headers[std::string(each.at(0).as_string())] =
        from_base64(std::string(each.at(1).as_string())).value();
  }
  EXPECT_EQ(headers["X-Latin"], "\xe9");
  EXPECT_EQ(headers["X-Utf8"], "\xc3\xa9");
  EXPECT_EQ(headers["Hapax-Id"], "50%25%20%E9%01");
  EXPECT_EQ(headers["Hapax-Source"], "demo");
  EXPECT_EQ(headers["Idempotency-Key"], answer.at("deliveries").at(0).at("delivery").as_string());
  EXPECT_EQ(headers.count("Hapax_Id"), 0U);
}

TEST_P(ListenApi, OrdinaryWorkersGetNoPushHeaders) {
  admit(api_, {{.id = "1", .destinations = {"work"}}});
  EXPECT_EQ(lease("work").at("deliveries").at(0).as_object().count("push_headers"), 0U);
}

}  // namespace
}  // namespace hapax::test
