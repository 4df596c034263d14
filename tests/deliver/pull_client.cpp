// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "deliver/pull_client.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace hapax::test {

namespace json = boost::json;

std::string admin_token(const Serve& serve) {
  std::string token;
  std::getline(std::ifstream(serve.file("admin.token")), token);
  return token;
}

PullClient::PullClient(const Serve& serve, std::string token)
    : serve_(serve), token_(token.empty() ? admin_token(serve) : std::move(token)) {}

HttpAnswer PullClient::post(const std::string& path, const std::string& body) const {
  RawClient client(serve_.admin_port());
  return client.post(path, {{"Authorization", "Bearer " + token_}}, body);
}

std::vector<LeasedDelivery> PullClient::lease(const std::string& destination,
                                              const std::string& more) const {
  const HttpAnswer answer =
      post("/v1/lease", R"({"destination":")" + destination + R"(","lease_s":3600)" + more + "}");
  EXPECT_EQ(answer.status, 200) << answer.body;
  std::vector<LeasedDelivery> leased;
  if (answer.status != 200) return leased;
  const json::value value = json::parse(answer.body);
  for (const json::value& each : value.at("deliveries").as_array()) {
    leased.push_back({std::string(each.at("delivery").as_string()), each.at("fence").as_int64(),
                      std::string(each.at("id").as_string()), each.at("attempt").as_int64()});
  }
  return leased;
}

std::string PullClient::settle(const LeasedDelivery& what, const std::string& outcome,
                               const std::string& more) const {
  const HttpAnswer answer =
      post("/v1/settle", R"({"results":[{"delivery":")" + what.delivery + R"(","fence":)" +
                             std::to_string(what.fence) + R"(,"outcome":")" + outcome + '"' + more +
                             "}]}");
  EXPECT_EQ(answer.status, 200) << answer.body;
  if (answer.status != 200) return "";
  return std::string(json::parse(answer.body).at("results").at(0).at("status").as_string());
}

}  // namespace hapax::test
