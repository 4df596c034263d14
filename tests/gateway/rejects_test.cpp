// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "gateway/serve.hpp"
#include "support/eventually.hpp"
#include "support/postgres.hpp"

#include <gtest/gtest.h>
#include <boost/json.hpp>

#include <fstream>
#include <iostream>
#include <iterator>
#include <thread>

// A real server with a wrong configuration rejects genuine requests. After the fix they are
// re-admitted, once each, and forged requests are not.
namespace hapax::test {

namespace {

namespace json = boost::json;

const std::string kWrongSecret = "whsec_V1JPTkdXUk9OR1dST05HV1JPTkdXUk9ORw==";
const std::string kForgersSecret = "whsec_Rk9SR0VERk9SR0VERk9SR0VERk9SR0VERk8=";

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

std::string config_with(const std::string& store_url, const std::string& source) {
  return "[server]\nlisten = \"127.0.0.1:0\"\nadmin = \"127.0.0.1:0\"\n" + kGenerousServer +
         "[store]\nurl = \"" + store_url + "\"\n" + kGenerousStore +
         "[[source]]\nname = \"demo\"\n" + source;
}

std::string body_of(const std::string& id) {
  return R"({"id":")" + id + R"(","note":")" + std::string(100, 'n') + "\"}";
}

// A client of a server's admin API. Uses a new connection per request, because the tests restart
// the server.
class Admin {
 public:
  explicit Admin(const Serve& serve) : serve_(serve) {}

  HttpAnswer get(const std::string& target) const {
    return RawClient(serve_.admin_port()).get(target, headers());
  }
  HttpAnswer post(const std::string& target, const std::string& body = "") const {
    return RawClient(serve_.admin_port()).post(target, headers(), body);
  }
  json::value list(const std::string& query = "") const {
    const HttpAnswer answer = get("/v1/rejects?limit=1000" + query);
    EXPECT_EQ(answer.status, 200) << answer.body << serve_.log();
    return json::parse(answer.status == 200 ? answer.body : R"({"rejects":[],"counts":[]})");
  }
  // The count `name` of the only source with rejects.
  std::int64_t count(const std::string& name) const {
    const json::value answer = list();
    const json::array& counts = answer.at("counts").as_array();
    return counts.empty() ? 0 : counts[0].at(name).as_int64();
  }
  // Waits until `wanted` rejects are stored.
  json::array rejects(std::int64_t wanted) const {
    EXPECT_TRUE(eventually([&] { return count("kept") >= wanted; })) << serve_.log();
    EXPECT_EQ(count("kept"), wanted) << serve_.log();
    return list().at("rejects").as_array();
  }
  HttpAnswer admit(const json::value& reject) const {
    return post("/v1/rejects/" + std::string(reject.at("reject").as_string()) + "/admit");
  }
  // Runs all steps and returns the sums of their counts.
  json::object admit_all(const std::string& how = "", int limit = 100) const {
    json::object sums{{"matched", 0}, {"admitted", 0}, {"duplicates", 0}, {"still_invalid", 0}};
    std::string after = "null";
    for (;;) {
      const HttpAnswer answer =
          post("/v1/rejects/admit", R"({"filter":{"source":"demo"},"limit":)" +
                                        std::to_string(limit) + ",\"after\":" + after + how + "}");
      EXPECT_EQ(answer.status, 200) << answer.body << serve_.log();
      if (answer.status != 200) return sums;
      const json::value step = json::parse(answer.body);
      for (auto& each : sums)
        each.value() = each.value().as_int64() + step.at(each.key()).as_int64();
      if (step.at("next").is_null()) return sums;
      after = json::serialize(step.at("next"));
    }
  }

 private:
  std::vector<OwnedHeader> headers() const {
    std::string token = contents(serve_.file("admin.token"));
    while (!token.empty() && token.back() == '\n') token.pop_back();
    return {{"Authorization", "Bearer " + token}};
  }

  const Serve& serve_;
};

HttpAnswer post_signed(const Serve& serve, const std::string& secret, const std::string& id) {
  const std::string body = body_of(id);
  RawClient client(serve.port());
  return client.post("/in/demo", signed_headers("standard-webhooks", secret, body, id), body);
}

struct Sent {
  std::map<std::string, std::string> bodies;  // genuine events, by id
  int forged = 0;
};

// With a wrong secret configured, genuine and forged requests are both rejected.
Sent send_rejected(const Serve& serve, int events) {
  Sent sent;
  RawClient client(serve.port());
  for (int i = 0; i < events; ++i) {
    const std::string id = "evt-" + std::to_string(i);
    const std::string body = body_of(id);
    const bool forge = i % 20 == 0;
    const auto headers = [&](const std::string& secret, const std::string& of) {
      return signed_headers("standard-webhooks", secret, body, of);
    };
    const HttpAnswer answer = client.post("/in/demo", headers(kDemoSecret, id), body);
    EXPECT_EQ(answer.status, 401) << answer.body;
    EXPECT_EQ(answer.problem(), "signature-invalid");
    sent.bodies[id] = body;
    if (!forge) continue;
    ++sent.forged;
    EXPECT_EQ(client.post("/in/demo", headers(kForgersSecret, "forged" + id), body).status, 401);
  }
  return sent;
}

// The sender retries every third event itself.
std::int64_t retry(const Serve& serve, const Sent& sent) {
  std::int64_t retried = 0;
  RawClient client(serve.port());
  int i = 0;
  for (const auto& [id, body] : sent.bodies) {
    if (i++ % 3 != 0) continue;
    const HttpAnswer answer = serve.post(client, id, body);
    EXPECT_EQ(answer.status, 200) << answer.body;
    ++retried;
  }
  return retried;
}

void reject_then_admit(const std::string& store_url, const std::string& view_url) {
  const std::string good = demo_config(store_url);
  Serve serve(replaced(good, kDemoSecret, kWrongSecret));
  const Admin admin(serve);
  const Sent sent = send_rejected(serve, std::max(60, rounds(3000)));
  const auto all = static_cast<std::int64_t>(sent.bodies.size());
  const json::array rejects = admin.rejects(all + sent.forged);
  json::object dry = admin.admit_all(R"(,"dry_run":true)");
  EXPECT_EQ(dry.at("still_invalid"), all + sent.forged) << "the secret is still wrong";
  EXPECT_EQ(admin.admit(rejects[0]).problem(), "still-invalid");

  serve.reload(good);
  const std::int64_t retried = retry(serve, sent);
  dry = admin.admit_all(R"(,"dry_run":true)");
  EXPECT_EQ(dry.at("admitted"), all - retried);
  EXPECT_EQ(dry.at("duplicates"), retried);
  EXPECT_EQ(admin.count("kept"), all + sent.forged) << "a dry run changes nothing";

  const json::object done = admin.admit_all();
  std::cout << json::serialize(done) << "\n";
  EXPECT_EQ(done.at("admitted"), all - retried);
  EXPECT_EQ(done.at("duplicates"), retried);
  EXPECT_EQ(done.at("still_invalid"), sent.forged);
  EXPECT_EQ(admin.count("kept"), sent.forged);
  EXPECT_EQ(admin.count("evicted") + admin.count("dropped"), 0);
  std::string url = view_url.empty() ? "sqlite:" + serve.file("hapax.db") : view_url;
  EXPECT_EQ(StoreView(url).bodies(), sent.bodies) << "must have every event once";
}

// The server is killed by kill -9 repeatedly while rejects are admitted.
void reject_then_admit_with_crashes(const std::string& store_url, const std::string& view_url) {
  const std::string good = demo_config(store_url);
  Serve serve(replaced(good, kDemoSecret, kWrongSecret));
  const Admin admin(serve);
  const Sent sent = send_rejected(serve, 200);
  const auto all = static_cast<std::int64_t>(sent.bodies.size());
  admin.rejects(all + sent.forged);
  serve.write_config(good);
  for (int round = 0; round < 5; ++round) {
    EXPECT_TRUE(serve.kill_it());
    serve.start();
    std::thread admitting([&] {  // interrupted at an arbitrary point
      admin.post("/v1/rejects/admit", R"({"limit":60})");
    });
    if (round % 2 == 0) retry(serve, sent);
    EXPECT_TRUE(serve.kill_it());
    admitting.join();
    serve.start();
  }
  admin.admit_all();
  EXPECT_EQ(admin.count("kept"), sent.forged);
  std::string url = view_url.empty() ? "sqlite:" + serve.file("hapax.db") : view_url;
  EXPECT_EQ(StoreView(url).bodies(), sent.bodies) << "must have every event once";
}

}  // namespace

TEST(RejectsTest, AFixedSecretRecoversEveryEventOnSqlite) {
  reject_then_admit("sqlite:hapax.db", "");
}

TEST(RejectsTest, AFixedSecretRecoversEveryEventOnPostgres) {
  PostgresDatabase database;
  reject_then_admit(database.url(), database.url());
}

TEST(RejectsTest, CrashesLoseAndRepeatNothingOnSqlite) {
  reject_then_admit_with_crashes("sqlite:hapax.db", "");
}

TEST(RejectsTest, CrashesLoseAndRepeatNothingOnPostgres) {
  PostgresDatabase database;
  reject_then_admit_with_crashes(database.url(), database.url());
}

TEST(RejectsTest, ARejectIsVerifiedAgainstItsTimeOfReceipt) {
  const std::string good = demo_config("sqlite:hapax.db");
  Serve serve(replaced(good, kDemoSecret, kWrongSecret));
  const Admin admin(serve);
  // Signed shortly before the end of the time window.
  const std::string body = body_of("late");
  WallTime then;
  std::int64_t sent = 0;
  RawClient client(serve.port());
  const auto is_within_window = [&] {
    then = make_system_clock()->wall() - std::chrono::seconds(297);
    const auto made = sign(preset("standard-webhooks")->verify, kDemoSecret,
                           {.url = "/in/demo", .body = body}, "late", then);
    ++sent;
    return client.post("/in/demo", made->headers, body).problem() == "signature-invalid";
  };
  ASSERT_TRUE(eventually(is_within_window));
  const json::array rejects = admin.rejects(sent);  // newest first
  serve.reload(good);
  const std::string other = body_of("other");
  const auto probe = sign(preset("standard-webhooks")->verify, kDemoSecret,
                          {.url = "/in/demo", .body = other}, "other", then);
  const auto is_outside_window = [&] {
    return client.post("/in/demo", probe->headers, other).problem() == "timestamp-outside-window";
  };
  ASSERT_TRUE(eventually(is_outside_window));
  const HttpAnswer admitted = admin.admit(rejects[0]);
  EXPECT_EQ(admitted.status, 200) << admitted.body;
  EXPECT_NE(admitted.body.find(R"("id":"late","duplicate":false)"), std::string::npos);
  EXPECT_EQ(admin.admit(rejects[0]).status, 404) << "an admitted reject is removed";
}

TEST(RejectsTest, ARequestAdmittedTwiceIsADuplicate) {
  const std::string good = demo_config("sqlite:hapax.db");
  Serve serve(replaced(good, kDemoSecret, kWrongSecret));
  const Admin admin(serve);
  post_signed(serve, kDemoSecret, "a");
  post_signed(serve, kDemoSecret, "a");
  const json::array rejects = admin.rejects(2);
  serve.reload(good);
  EXPECT_NE(admin.admit(rejects[1]).body.find(R"("duplicate":false)"), std::string::npos);
  EXPECT_NE(admin.admit(rejects[0]).body.find(R"("duplicate":true)"), std::string::npos);
  EXPECT_EQ(StoreView("sqlite:" + serve.file("hapax.db")).bodies().size(), 1U);
}

// The state after a crash between admission and removal: both the event and the reject are stored.
// The sender provides no ids, so only the number of the reject identifies the event.
TEST(RejectsTest, ARejectLeftByACrashIsNotAdmittedTwice) {
  const std::string good = config_with("sqlite:hapax.db",
                                       "verify = { scheme = \"hmac\", header = \"X-Sig\" }\n"
                                       "secrets = [\"right\"]\nid = \"none\"\n");
  Serve serve(replaced(good, "\"right\"", "\"wrong\""));
  const Admin admin(serve);
  Scheme scheme;
  scheme.signatures[0] = {.at = "header:X-Sig"};
  scheme.messages[0] = "{body}";
  const auto made = sign(scheme, "right", {.body = "once"}, "", {});
  ASSERT_TRUE(made);
  RawClient client(serve.port());
  ASSERT_EQ(client.post("/in/demo", made->headers, "once").status, 401);
  const json::array rejects = admin.rejects(1);
  StoreView view("sqlite:" + serve.file("hapax.db"));
  const auto number = reject_from(std::string(rejects[0].at("reject").as_string()));
  const auto stored = view.driver().rejects->reject(*number);
  ASSERT_TRUE(stored && *stored);
  serve.reload(good);
  EXPECT_NE(admin.admit(rejects[0]).body.find(R"("duplicate":false)"), std::string::npos);
  const store::StoredReject& left = **stored;
  const store::Reject again{.no = left.row.no,
                            .source = left.row.source,
                            .reason = left.row.reason,
                            .received = left.row.received,
                            .method = left.method,
                            .url = left.url,
                            .headers = left.headers,
                            .proof = left.proof,
                            .body = left.body};
  ASSERT_TRUE(view.driver().rejects->add_rejects({.rejects = std::span(&again, 1)}));
  EXPECT_NE(admin.admit(rejects[0]).body.find(R"("duplicate":true)"), std::string::npos);
  // A reject older than `remember` may have been admitted before, so it is refused.
  store::Reject old = again;
  old.received -= std::chrono::hours(24 * 31);
  ASSERT_TRUE(view.driver().rejects->add_rejects({.rejects = std::span(&old, 1)}));
  const HttpAnswer refused = admin.admit(rejects[0]);
  EXPECT_EQ(refused.problem(), "still-invalid");
  EXPECT_NE(refused.body.find(R"("reason":"timestamp-outside-window")"), std::string::npos);
}

TEST(RejectsTest, AnItemWithoutAnIdIsRejectedAlone) {
  const std::string first = config_with("sqlite:hapax.db",
                                        "verify = \"none\"\nid = \"json:/id\"\n"
                                        "split = \"json:/items/*\"\n");
  Serve serve(first);
  const Admin admin(serve);
  RawClient client(serve.port());
  const std::string body = R"({"items":[{"id":"a"},{"key":"k", "x":1},{"id":"b"}]})";
  const HttpAnswer answer = client.post("/in/demo", {}, body);
  EXPECT_EQ(answer.status, 200);
  EXPECT_NE(answer.body.find(R"("accepted":2,"duplicates":0,"rejected":1)"), std::string::npos)
      << answer.body;
  const json::array rejects = admin.rejects(1);
  EXPECT_EQ(rejects[0].at("reason"), "id-missing");
  const std::string path = "/v1/rejects/" + std::string(rejects[0].at("reject").as_string());
  EXPECT_EQ(admin.get(path + "/body").body, R"({"key":"k", "x":1})");
  const HttpAnswer refused = admin.admit(rejects[0]);
  EXPECT_EQ(refused.status, 422) << refused.body;
  EXPECT_NE(refused.body.find(R"("reason":"id-missing")"), std::string::npos) << refused.body;
  serve.reload(replaced(first, "json:/id", "json:/key"));
  const HttpAnswer admitted = admin.admit(rejects[0]);
  EXPECT_NE(admitted.body.find(R"("id":"k","duplicate":false)"), std::string::npos)
      << admitted.body;
  const auto bodies = StoreView("sqlite:" + serve.file("hapax.db")).bodies();
  EXPECT_EQ(bodies.size(), 3U);
  EXPECT_EQ(bodies.at("k"), R"({"key":"k", "x":1})");
}

TEST(RejectsTest, ARejectWithItemsWithoutAnIdIsKept) {
  const std::string good = config_with("sqlite:hapax.db",
                                       "verify = { scheme = \"token\", header = \"X-Token\" }\n"
                                       "secrets = [\"right-secret\"]\nid = \"json:/id\"\n"
                                       "split = \"json:/items/*\"\n");
  Serve serve(replaced(good, "right-secret", "other-secret"));
  const Admin admin(serve);
  RawClient client(serve.port());
  const std::string body = R"({"items":[{"id":"a"},{"key":"k"}]})";
  ASSERT_EQ(client.post("/in/demo", {{"X-Token", "right-secret"}}, body).status, 401);
  const json::array rejects = admin.rejects(1);
  serve.reload(good);
  for (const char* counts : {R"("accepted":1,"duplicates":0,"rejected":1)",
                             R"("accepted":0,"duplicates":1,"rejected":1)"}) {
    const HttpAnswer answer = admin.admit(rejects[0]);
    EXPECT_NE(answer.body.find(counts), std::string::npos) << answer.body;
  }
  EXPECT_EQ(StoreView("sqlite:" + serve.file("hapax.db")).bodies().size(), 1U);
  serve.reload(replaced(good, "json:/id", "json:/key"));
  EXPECT_EQ(admin.admit(rejects[0]).status, 200);
}

TEST(RejectsTest, ARequestWithoutAnyEventIsRejectedAsAWhole) {
  Serve serve(config_with("sqlite:hapax.db",
                          "verify = \"none\"\nid = \"json:/id\"\nsplit = \"json:/items/*\"\n"));
  const Admin admin(serve);
  RawClient client(serve.port());
  const std::string body = R"({"items":[{"key":"k"},{"key":"l"}]})";
  EXPECT_EQ(client.post("/in/demo", {}, body).problem(), "id-missing");
  const json::array rejects = admin.rejects(1);
  const std::string path = "/v1/rejects/" + std::string(rejects[0].at("reject").as_string());
  EXPECT_EQ(admin.get(path + "/body").body, body);
}

// A transmitted secret is in no file, but the reject can still be verified later.
void expect_redacted(const std::string& source, const std::vector<OwnedHeader>& headers,
                     const std::string& body, const std::string& sent) {
  const std::string good = config_with("sqlite:hapax.db", source);
  Serve serve(replaced(good, "right-secret", "other-secret"));
  const Admin admin(serve);
  RawClient client(serve.port());
  ASSERT_EQ(client.post("/in/demo", headers, body).status, 401);
  const json::array rejects = admin.rejects(1);
  const std::string path = "/v1/rejects/" + std::string(rejects[0].at("reject").as_string());
  const std::string shown = admin.get(path).body + admin.get(path + "/body").body;
  EXPECT_NE(shown.find("<redacted>"), std::string::npos) << shown;
  const std::string files =
      contents(serve.file("hapax.db")) + contents(serve.file("hapax.db-wal")) + serve.log();
  EXPECT_EQ((shown + files).find(sent), std::string::npos);
  EXPECT_EQ(admin.admit(rejects[0]).problem(), "still-invalid");
  serve.reload(good);
  const HttpAnswer admitted = admin.admit(rejects[0]);
  EXPECT_EQ(admitted.status, 200) << admitted.body;
}

TEST(RejectsTest, AHeaderWithTheSecretIsNotStored) {
  expect_redacted(
      "verify = { scheme = \"token\", header = \"X-Token\" }\nsecrets = [\"right-secret\"]\n"
      "id = \"json:/id\"\n",
      {{"X-Token", "right-secret"}}, body_of("a"), "right-secret");
}

TEST(RejectsTest, BasicCredentialsAreNotStored) {
  expect_redacted(
      "verify = { scheme = \"basic\" }\nsecrets = [\"me:right-secret\"]\n"
      "id = \"json:/id\"\n",
      {{"Authorization", "Basic bWU6cmlnaHQtc2VjcmV0"}}, body_of("a"), "bWU6cmlnaHQtc2VjcmV0");
}

TEST(RejectsTest, ASecretInTheBodyIsNotStored) {
  expect_redacted("preset = \"figma\"\nsecrets = [\"right-secret\"]\nid = \"none\"\n", {},
                  R"({"a":"<redacted>","passcode":"right-secret","event_type":"PING"})",
                  "right-secret");
}

TEST(RejectsTest, AWrongTokenIsNeverAdmitted) {
  const std::string config = config_with("sqlite:hapax.db",
                                         "verify = { scheme = \"token\", header = \"X-Token\" }\n"
                                         "secrets = [\"right-secret\"]\nid = \"json:/id\"\n");
  Serve serve(config);
  const Admin admin(serve);
  RawClient client(serve.port());
  for (const char* guess : {"<redacted>", "right-secre", ""}) {
    ASSERT_EQ(client.post("/in/demo", {{"X-Token", guess}}, body_of("a")).status, 401);
  }
  for (const json::value& each : admin.rejects(3)) {
    EXPECT_EQ(admin.admit(each).problem(), "still-invalid");
  }
}

}  // namespace hapax::test
