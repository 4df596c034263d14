// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "admin/api.hpp"
#include "admin/routes.hpp"
#include "support/eventually.hpp"

#include <gmock/gmock.h>

#include <future>

// The rights of a [[token]]. The worker's token has lease:audit and settle:audit, the reader's has
// read and dedup:mail.
namespace hapax::test {
namespace {

namespace json = boost::json;
using testing::HasSubstr;

class AdminTokens : public testing::TestWithParam<StoreKind> {
 protected:
  ApiAnswer as(const char* token, const std::string& method, const std::string& target,
               const std::string& body = "") {
    return api_.ask(method, target, body, token);
  }
  ApiAnswer lease(const char* token, const std::string& destination) {
    return as(token, "POST", "/v1/lease", R"({"destination":")" + destination + R"("})");
  }
  // The members "delivery" and "fence" of the only delivery.
  std::string name_of_only(const ApiAnswer& answer) {
    EXPECT_EQ(answer.status, 200) << answer.body;
    const json::value value = answer.json();
    const json::value& one = value.at("deliveries").at(0);
    return R"("delivery":)" + json::serialize(one.at("delivery")) + R"(,"fence":)" +
           json::serialize(one.at("fence"));
  }
  std::string status_in(const ApiAnswer& answer) {
    EXPECT_EQ(answer.status, 200) << answer.body;
    return std::string(answer.json().at("results").at(0).at("status").as_string());
  }
  std::string settle(const char* token, const std::string& name, const std::string& outcome) {
    return status_in(as(token, "POST", "/v1/settle",
                        R"({"results":[{)" + name + R"(,"outcome":")" + outcome + R"("}]})"));
  }
  std::string renew(const char* token, const std::string& name) {
    return status_in(as(token, "POST", "/v1/renew", R"({"leases":[{)" + name + "}]}"));
  }
  void forget_lease_records() {
    for (std::int64_t i = 0; i < 40'000; ++i) {
      api_.lease_cache().note(Fence((std::int64_t{1} << 62) + i), {});
    }
  }

  Api api_{GetParam(), {"work", "audit", "pushed"}};
};

INSTANTIATE_TEST_SUITE_P(, AdminTokens, testing::Values(StoreKind::memory), [](const auto& kind) {
  return kind.param == StoreKind::memory ? "Memory" : "Sqlite";
});

TEST_P(AdminTokens, AWorkerLeasesAndSettlesItsOwnDestination) {
  admit(api_, {{.id = "1", .destinations = {"audit"}}});
  const std::string name = name_of_only(lease(kWorkerToken, "audit"));
  EXPECT_EQ(renew(kWorkerToken, name), "ok");
  EXPECT_EQ(settle(kWorkerToken, name, "ack"), "ok");
}

TEST_P(AdminTokens, LeasesOfAnotherNodeCanBeSettled) {
  admit(api_, {{.id = "1", .destinations = {"audit"}}});
  const std::string name = name_of_only(lease(kWorkerToken, "audit"));
  forget_lease_records();
  EXPECT_EQ(renew(kWorkerToken, name), "ok");
  EXPECT_EQ(settle(kWorkerToken, name, "ack"), "ok");
  EXPECT_EQ(settle(kWorkerToken, name, "ack"), "ok");
}

TEST_P(AdminTokens, AWorkerCannotLeaseFromOtherDestinations) {
  admit(api_, {{.id = "1", .destinations = {"work"}}});
  for (const char* each : {"work", "pushed", "nowhere", "", "AUDIT"}) {
    const ApiAnswer answer = lease(kWorkerToken, each);
    EXPECT_EQ(answer.status, 403) << each << " must look like a destination that does not exist";
    EXPECT_EQ(answer.problem(), "forbidden");
    EXPECT_THAT(answer.detail(), HasSubstr("'lease:" + std::string(each) + "'"));
    EXPECT_EQ(answer.body.find(kWorkerToken), std::string::npos);
  }
}

// Guessing a fence reveals nothing, not even that the delivery exists.
TEST_P(AdminTokens, AWorkerCannotSettleOtherLeases) {
  const auto events = admit(api_, {{.id = "1", .destinations = {"work"}}});
  const std::string name = name_of_only(lease(kToken, "work"));
  for (const bool forgotten : {false, true}) {
    if (forgotten) forget_lease_records();
    for (const char* outcome : {"ack", "retry", "drop"}) {
      EXPECT_EQ(settle(kWorkerToken, name, outcome), "unknown") << forgotten << outcome;
    }
    EXPECT_EQ(renew(kWorkerToken, name), "unknown");
  }
  EXPECT_EQ(settle(kToken, name, "ack"), "ok") << "the rejected calls had no effect";
}

TEST_P(AdminTokens, APollWithARevokedTokenGetsNothing) {
  auto waiting = std::async(std::launch::async, [this] {
    return as(kWorkerToken, "POST", "/v1/lease", R"({"destination":"audit","wait_s":60})");
  });
  ASSERT_TRUE(eventually([&] { return api_.state().polling == 1; }));
  api_.revoke_tokens();
  admit(api_, {{.id = "1", .destinations = {"audit"}}});
  api_.notifier().notify(destination_no(api_, "audit"));
  const ApiAnswer answer = waiting.get();
  EXPECT_EQ(answer.status, 401) << answer.body;
  EXPECT_EQ(answer.problem(), "token-invalid");
  const json::value value = api_.post("/v1/lease", R"({"destination":"audit","wait_s":60})").json();
  EXPECT_EQ(value.at("deliveries").at(0).at("attempt").as_int64(), 1) << "no earlier attempt";
}

TEST_P(AdminTokens, EveryRouteRequiresItsRight) {
  for (const admin::Route& each : admin::routes()) {
    if (!each.token) continue;
    const std::string method(each.method);
    const std::string pattern(each.pattern);
    const std::size_t open = pattern.find('{');
    std::string target = pattern;
    if (open != std::string::npos) {
      target = pattern.substr(0, open) + "x" + pattern.substr(pattern.find('}') + 1);
    }
    const admin::Right right = right_of(each);
    const auto expect = [&](const char* token, bool may) {
      const std::string body = method == "POST" ? "{}" : "";
      const ApiAnswer answer =
          api_.raw(method, target,
                   {"Host: localhost", std::string("Authorization: Bearer ") + token,
                    "Content-Length: " + std::to_string(body.size())},
                   body);
      EXPECT_EQ(answer.status == 403, !may) << method << target << answer.body;
      if (may) return;
      EXPECT_EQ(answer.problem(), "forbidden");
      if (right != admin::Right::admin) {
        EXPECT_THAT(answer.detail(), HasSubstr("'" + in_words(right) + "'"));
      }
    };
    expect(kReaderToken, right == admin::Right::read || right == admin::Right::dedup);
    expect(kWorkerToken, right == admin::Right::lease || right == admin::Right::settle);
    expect(kToken, true);
  }
}

TEST_P(AdminTokens, TheDedupRightCoversOneScope) {
  const auto claim = [&](const char* token, const char* scope) {
    return as(token, "POST", "/v1/dedup", R"({"id":"1","scope":")" + std::string(scope) + "\"}");
  };
  const ApiAnswer answer = claim(kReaderToken, "post");
  EXPECT_EQ(answer.status, 403);
  EXPECT_THAT(answer.detail(), HasSubstr("'dedup:post'"));
  EXPECT_EQ(claim(kToken, "post").body, "{\"duplicate\":false}\n") << "a 403 must not claim the id";
  EXPECT_EQ(claim(kReaderToken, "mail").body, "{\"duplicate\":false}\n");
  EXPECT_EQ(claim(kToken, "mail").body, "{\"duplicate\":true}\n");
}

}  // namespace
}  // namespace hapax::test
