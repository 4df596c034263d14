// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "admin/api.hpp"
#include "support/eventually.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>

// The request handling that all routes of the admin listener share.
namespace hapax::test {
namespace {

using testing::HasSubstr;

const std::string kHost = "Host: localhost";
const std::string kRight = std::string("Authorization: Bearer ") + kToken;

TEST(AdminEndpoint, RequiresTheToken) {
  Api api(StoreKind::memory);
  for (const char* target : {"/v1/events", "/v1/events/x", "/v1/events/x/body", "/v1/sources",
                             "/v1/stats", "/v1/openapi.json"}) {
    ApiAnswer missing = api.raw("GET", target, {kHost});
    EXPECT_EQ(missing.status, 401) << target;
    EXPECT_EQ(missing.problem(), "token-missing");
    EXPECT_EQ(missing.headers["www-authenticate"], "Bearer");
    EXPECT_EQ(missing.headers["content-type"], "application/problem+json");
    EXPECT_EQ(missing.headers["cache-control"], "no-store");
    const ApiAnswer wrong = api.raw("GET", target, {kHost, kRight + "x"});
    EXPECT_EQ(wrong.status, 401) << target;
    EXPECT_EQ(wrong.problem(), "token-invalid");
  }
  EXPECT_EQ(api.raw("POST", "/v1/dedup", {kHost, "Content-Length: 2"}, "{}").status, 401);
  EXPECT_EQ(api.raw("GET", "/v1/stats", {kHost, kRight}).status, 200);
  EXPECT_THAT(api.log(), testing::Contains("token-invalid"));
}

TEST(AdminEndpoint, HealthReadinessAndMetricsNeedNoToken) {
  Api api(StoreKind::memory);
  for (const char* target : {"/healthz", "/readyz", "/metrics"}) {
    EXPECT_EQ(api.raw("GET", target, {kHost}).status, 200) << target;
    EXPECT_EQ(api.raw("GET", target, {kHost, "Authorization: Bearer wrong"}).status, 200);
  }
}

TEST(AdminEndpoint, RejectsUnknownHostNames) {
  Api api(StoreKind::memory);
  for (const char* target : {"/healthz", "/v1/stats", "/nowhere"}) {
    const ApiAnswer answer = api.raw("GET", target, {"Host: evil.example", kRight});
    EXPECT_EQ(answer.status, 421) << target;
    EXPECT_EQ(answer.problem(), "host-unknown");
  }
  for (const char* host : {"Host: 127.0.0.1:99", "Host: [::1]", "Host: hapax.internal:8421"}) {
    EXPECT_EQ(api.raw("GET", "/v1/stats", {host, kRight}).status, 200) << host;
  }
}

TEST(AdminEndpoint, UnknownPathsAre404AndWrongMethods405) {
  Api api(StoreKind::memory);
  for (const char* target : {"/", "/v1", "/v1/", "/v1/events/", "/v1/events/x/", "/v1/events/x/y",
                             "/v1/events//body", "/v1/Events", "/healthz/", "/v1/dedup/x"}) {
    const ApiAnswer answer = api.get(target);
    EXPECT_EQ(answer.status, 404) << target;
    EXPECT_EQ(answer.problem(), "not-found");
  }
  for (const char* target : {"/v1/events", "/v1/events/x", "/v1/events/x/body", "/healthz"}) {
    ApiAnswer answer = api.ask("DELETE", target, "");
    EXPECT_EQ(answer.status, 405) << target;
    EXPECT_EQ(answer.problem(), "method-not-allowed");
    EXPECT_EQ(answer.headers["allow"], "GET, HEAD");
  }
  ApiAnswer answer = api.get("/v1/dedup");
  EXPECT_EQ(answer.status, 405);
  EXPECT_EQ(answer.headers["allow"], "POST");
}

TEST(AdminEndpoint, HeadReturnsTheHeadersOfGet) {
  Api api(StoreKind::memory);
  for (const char* target :
       {"/healthz", "/readyz", "/v1/events", "/v1/stats", "/v1/openapi.json", "/v1/events/x"}) {
    ApiAnswer get = api.get(target);
    ApiAnswer head = api.ask("HEAD", target, "");
    EXPECT_EQ(head.status, get.status) << target;
    EXPECT_EQ(head.body, "");
    EXPECT_EQ(head.headers["content-length"], std::to_string(get.body.size()));
    EXPECT_EQ(head.headers["content-type"], get.headers["content-type"]);
  }
}

TEST(AdminEndpoint, AcceptsBodiesOfUpToOneMebibyte) {
  Api api(StoreKind::memory);
  constexpr std::size_t kMebibyte = 1024 * 1024;
  EXPECT_EQ(api.post("/v1/dedup", std::string(kMebibyte, ' ')).problem(), "bad-request");
  EXPECT_EQ(api.post("/v1/dedup", std::string(kMebibyte + 1, ' ')).problem(), "body-too-large");
  const ApiAnswer chunked =
      api.raw("POST", "/v1/dedup", {kHost, kRight, "Transfer-Encoding: chunked"},
              "100001\r\n" + std::string(kMebibyte + 1, ' ') + "\r\n0\r\n\r\n");
  EXPECT_EQ(chunked.status, 413);
  const ApiAnswer get = api.raw("GET", "/v1/stats", {kHost, kRight, "Content-Length: 1"}, "x");
  EXPECT_EQ(get.status, 413);
}

TEST(AdminEndpoint, ReportsBackpressure) {
  Api api(StoreKind::memory);
  api.state().waiting = 256;
  ApiAnswer answer = api.get("/v1/stats");
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.problem(), "queue-full");
  EXPECT_NE(answer.headers["retry-after"], "");
  EXPECT_EQ(api.get("/healthz").status, 200) << "/healthz does not need the store";
  api.state().waiting = 255;
  EXPECT_EQ(api.get("/v1/stats").status, 200);
  EXPECT_EQ(api.state().waiting, 255U);
}

TEST(AdminEndpoint, ReportsReadiness) {
  Api api(StoreKind::memory);
  EXPECT_EQ(api.get("/readyz").body, "{\"ready\":true,\"reasons\":[]}\n");
  api.state().stopping = true;
  ApiAnswer answer = api.get("/readyz");
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.body, "{\"ready\":false,\"reasons\":[\"stopping\"]}\n");
  EXPECT_EQ(answer.headers["retry-after"], "1");
  api.state().store_reachable = false;
  EXPECT_EQ(api.get("/readyz").body,
            "{\"ready\":false,\"reasons\":[\"store-unreachable\",\"stopping\"]}\n");
  EXPECT_EQ(api.get("/healthz").body, "{\"status\":\"ok\"}\n");
}

TEST(AdminEndpoint, ReportsAnUnavailableStore) {
  Api api(StoreKind::unavailable);
  EXPECT_EQ(api.get("/readyz").status, 503);
  EXPECT_EQ(api.get("/healthz").status, 200);
  const ApiAnswer answer = api.post("/v1/dedup", R"({"scope":"s","id":"i"})");
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.problem(), "store-unavailable");
  EXPECT_EQ(answer.detail(), "the store was made to fail");
}

// The server has two threads for the store and two for the network.
TEST(AdminEndpoint, ContinuesWhileTheStoreHangs) {
  Api api(StoreKind::unavailable);
  api.hold_store(true);
  std::vector<std::thread> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([&] { EXPECT_EQ(api.get("/readyz").status, 503); });
  }
  EXPECT_TRUE(eventually([&] { return api.state().waiting == clients.size(); }));
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(api.get("/healthz").status, 200);
    EXPECT_EQ(api.get("/metrics").status, 200);
  }
  EXPECT_EQ(api.state().waiting, clients.size());
  api.hold_store(false);
  for (std::thread& each : clients) each.join();
  EXPECT_EQ(api.state().waiting, 0U);
}

TEST(AdminEndpoint, ServesPrometheusMetrics) {
  Api api(StoreKind::memory);
  ApiAnswer answer = api.get("/metrics");
  EXPECT_EQ(answer.headers["content-type"], "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_THAT(answer.body, HasSubstr("hapax_commit_queue_depth"));
}

TEST(AdminEndpoint, AnswersPipelinedRequestsInOrder) {
  Api api(StoreKind::sqlite);
  const std::string head = " HTTP/1.1\r\n" + kHost + "\r\n" + kRight + "\r\n";
  const std::string claim = R"({"scope":"s","id":"1"})";
  const std::string post = "POST /v1/dedup" + head +
                           "Content-Length: " + std::to_string(claim.size()) + "\r\n\r\n" + claim;
  const std::string answers = api.wire(post + "GET /v1/events/x" + head + "\r\n" + post +
                                       "GET /healthz" + head + "Connection: close\r\n\r\n");
  std::size_t at = 0;
  for (const char* each : {"HTTP/1.1 200", "{\"duplicate\":false}", "HTTP/1.1 404", "HTTP/1.1 200",
                           "{\"duplicate\":true}", "HTTP/1.1 200", "{\"status\":\"ok\"}"}) {
    at = answers.find(each, at);
    ASSERT_NE(at, std::string::npos) << each << " in " << answers;
    ++at;
  }
}

TEST(AdminEndpoint, AnswersConcurrentClients) {
  Api api(StoreKind::sqlite);
  admit(api, {{.id = "one"}});
  std::atomic<int> right = 0;
  std::vector<std::thread> clients;
  for (int i = 0; i < 8; ++i) {
    clients.emplace_back([&] {
      for (int j = 0; j < 20; ++j) {
        if (ids_in(api.raw("GET", "/v1/events", {kHost, kRight})).size() == 1) ++right;
      }
    });
  }
  for (std::thread& each : clients) each.join();
  EXPECT_EQ(right, 160);
  EXPECT_EQ(api.state().waiting, 0U);
}

}  // namespace
}  // namespace hapax::test
