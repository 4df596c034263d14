// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "cli/running_server.hpp"
#include "http/raw_server.hpp"
#include "support/eventually.hpp"
#include "support/sanitizer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/wait.h>

#include <csignal>
#include <fstream>
#include <functional>
#include <iterator>
#include <mutex>

// `hapax listen` and `hapax replay` against a scripted admin API.
namespace hapax {
namespace {

using test::Ran;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string answer(const std::string& status, const std::string& body) {
  return "HTTP/1.1 " + status +
         "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

std::string ok(const std::string& body) {
  return answer("200 OK", body);
}

// A server that gives the n-th request the n-th response, and records the requests.
class Script {
 public:
  Script(std::vector<std::string> answers, std::function<void()> at_end)
      : answers_(std::move(answers)), at_end_(std::move(at_end)) {}

  int port() const { return server_.port(); }
  std::vector<std::string> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  void serve(int fd) {
    for (std::string request = test::read_request(fd); !request.empty();
         request = test::read_request(fd)) {
      std::size_t place = 0;
      {
        const std::lock_guard lock(mutex_);
        requests_.push_back(request);
        place = requests_.size();
      }
      if (place >= answers_.size()) at_end_();
      const std::string& response = answers_[std::min(place, answers_.size()) - 1];
      if (response.empty()) return;  // simulates a lost response: closes the connection
      test::write_text(fd, response);
    }
  }

  const std::vector<std::string> answers_;
  const std::function<void()> at_end_;
  mutable std::mutex mutex_;
  std::vector<std::string> requests_;
  test::RawServer server_{[this](int fd, int) { serve(fd); }};
};

std::string body_of(const std::string& request) {
  return request.substr(request.find("\r\n\r\n") + 4);
}

class ListenTest : public testing::Test {
 protected:
  // Runs `hapax listen` until it exits, usually by press_ctrl_c() after the script's last response.
  Ran listen(const Script& script, const std::string& arguments) {
    std::ofstream(directory_.file("token")) << "open-sesame\n";
    const std::string command =
        "cd '" + directory_.path().string() +
        "' && { " HAPAX_BINARY " listen --token-file token --admin http://127.0.0.1:" +
        std::to_string(script.port()) + " " + arguments + " 2>errors & echo $! > pid; wait $!; }";
    std::FILE* pipe = popen(command.c_str(), "r");
    std::string out;
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) out += static_cast<char>(c);
    const int status = pclose(pipe);
    std::ifstream errors(directory_.file("errors"));
    const std::string wrote(std::istreambuf_iterator<char>(errors), {});
    test::expect_no_report(wrote);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, out, wrote};
  }
  void press_ctrl_c() {
    pid_t process = 0;
    EXPECT_TRUE(test::eventually([&] {
      std::ifstream(directory_.file("pid")) >> process;
      return process > 0;
    }));
    if (process > 0) kill(process, SIGINT);
  }

  test::TempDir directory_;
};

const std::string kListening = ok(R"({"name":"dev","sources":[],"until":"2026-01-01T00:00:00Z"})");
const std::string kNothing = ok(R"({"deliveries":[]})");
const std::string kSettled = ok(R"({"results":[{"delivery":"d1","status":"ok"}]})");

std::string leased(const std::string& id) {
  return ok(
      R"({"deliveries":[{"delivery":"d1","fence":7,"event":"e1","source":"demo","tenant":"","id":")" +
      id +
      R"(","type":"t","attempt":2,"received_at":"2025-10-09T08:53:20Z",)"
      R"("lease_until":"2025-10-09T08:54:20Z","headers":[["Content-Type","text/plain"],)"
      R"(["X-Twice","1"],["X-Twice","2"],["Host","evil"],["hapax-event","forged"],)"
      R"(["Idempotency-Key","forged"],["Connection","close"]],"body_base64":"aGVsbG8="}]})");
}

TEST_F(ListenTest, ForwardsEachDeliveryAndSettlesItByTheResponse) {
  Script handler({answer("204 No Content", ""), answer("500 Internal Server Error", "")}, [] {});
  Script admin({kListening, leased("one"), kSettled, leased("two"), kSettled, kNothing},
               [this] { press_ctrl_c(); });
  const Ran ran = listen(admin, "--name dev --source demo --source other --to http://127.0.0.1:" +
                                    std::to_string(handler.port()) + "/hooks?x=1");
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.errors;
  const std::vector<std::string> asked = admin.requests();
  ASSERT_GE(asked.size(), 6U);
  EXPECT_THAT(asked[0], HasSubstr("POST /v1/listen "));
  EXPECT_EQ(body_of(asked[0]), R"({"name":"dev","sources":["demo","other"]})");
  EXPECT_THAT(asked[1], HasSubstr("POST /v1/lease "));
  EXPECT_THAT(body_of(asked[1]), HasSubstr(R"("destination":"dev","max":1)"));
  EXPECT_EQ(body_of(asked[2]), R"({"results":[{"delivery":"d1","fence":7,"outcome":"ack"}]})");
  EXPECT_THAT(body_of(asked[4]), HasSubstr(R"("outcome":"retry","retry_after_s":10)"));
  EXPECT_THAT(ran.out, HasSubstr(R"("event":"e1","source":"demo","id":"one","attempt":2)"));
  EXPECT_THAT(ran.out, HasSubstr(R"("outcome":"ack","answer":"204")"));
  EXPECT_THAT(ran.out, HasSubstr(R"("outcome":"retry","answer":"500")"));
}

TEST_F(ListenTest, TheHandlerGetsBodyAndHeadersOfADelivery) {
  Script handler({answer("200 OK", "{}")}, [] {});
  Script admin({kListening, leased("one"), kSettled, kNothing}, [this] { press_ctrl_c(); });
  listen(admin, "--name dev --to http://127.0.0.1:" + std::to_string(handler.port()) + "/hooks");
  ASSERT_EQ(handler.requests().size(), 1U);
  const std::string request = handler.requests()[0];
  EXPECT_THAT(request, HasSubstr("POST /hooks HTTP/1.1\r\n"));
  EXPECT_EQ(body_of(request), "hello");
  for (const char* each : {"Content-Type: text/plain\r\n", "X-Twice: 1\r\n", "X-Twice: 2\r\n",
                           "Idempotency-Key: d1\r\n", "Hapax-Event: e1\r\n", "Hapax-Id: one\r\n",
                           "Hapax-Source: demo\r\n", "Hapax-Attempt: 2\r\n", "Hapax-Fence: 7\r\n",
                           "Hapax-Received-At: 2025-10-09T08:53:20Z\r\n"}) {
    EXPECT_THAT(request, HasSubstr(each));
  }
  EXPECT_THAT(request, Not(HasSubstr("forged")));
  EXPECT_THAT(request, Not(HasSubstr("evil")));
  EXPECT_THAT(request, Not(HasSubstr("Tenant")));
}

// Signatures over these headers must stay valid, and the id must equal that of a push delivery.
TEST_F(ListenTest, TheHandlerGetsExactlyThePushHeaders) {
  Script handler({answer("200 OK", "{}")}, [] {});
  const std::string delivery =
      R"({"deliveries":[{"delivery":"d1","fence":7,"event":"e1","source":"demo","tenant":"",)"
      R"("id":"50% \u00e9","type":"t","attempt":2,"received_at":"2025-10-09T08:53:20Z",)"
      R"("headers":[["X-Latin","\u00e9"]],"push_headers":[["X-Latin","6Q=="],)"
      R"(["Hapax-Id","NTAlMjUlMjAlRTk="],["Hapax-Tenant",""]],"body_base64":"aGVsbG8="}]})";
  Script admin({kListening, ok(delivery), kSettled, kNothing}, [this] { press_ctrl_c(); });
  listen(admin, "--name dev --to http://127.0.0.1:" + std::to_string(handler.port()) + "/hooks");
  ASSERT_EQ(handler.requests().size(), 1U);
  const std::string request = handler.requests()[0];
  EXPECT_THAT(request, HasSubstr("X-Latin: \xe9\r\n"));
  EXPECT_THAT(request, HasSubstr("Hapax-Id: 50%25%20%E9\r\n"));
  EXPECT_THAT(request, HasSubstr("Hapax-Tenant: \r\n"));
  EXPECT_EQ(body_of(request), "hello");
}

TEST_F(ListenTest, AnUnreachableHandlerIsARetry) {
  int port = 0;
  {
    port = Script({kNothing}, [] {}).port();
  }
  Script admin({kListening, leased("one"), kSettled, kNothing}, [this] { press_ctrl_c(); });
  const Ran ran = listen(admin, "--name dev --to http://127.0.0.1:" + std::to_string(port));
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_THAT(body_of(admin.requests().at(2)), HasSubstr(R"("outcome":"retry")"));
}

TEST_F(ListenTest, ServerRejectionsAreReported) {
  Script admin(
      {answer("409 Conflict",
              R"({"type":"urn:hapax:error:name-taken","status":409,"detail":"Choose another."})")},
      [] {});
  const Ran ran = listen(admin, "--name work --to http://127.0.0.1:1");
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.errors + ran.out, HasSubstr("Choose another."));
}

TEST_F(ListenTest, WrongUsageIsReported) {
  Script admin({kNothing}, [] {});
  EXPECT_EQ(listen(admin, "--to http://127.0.0.1:1").exit_code, 2);
  EXPECT_EQ(listen(admin, "--name dev").exit_code, 2);
  EXPECT_EQ(listen(admin, "--name dev --to ftp://x").exit_code, 2);
  EXPECT_TRUE(admin.requests().empty());
}

TEST_F(ListenTest, TheRegistrationCanBeEnded) {
  Script admin({ok(R"({"name":"dev"})")}, [] {});
  const Ran ran = listen(admin, "--name dev --end");
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_THAT(admin.requests().at(0), HasSubstr("DELETE /v1/listen/dev "));
}

std::string job(const std::string& state, int events) {
  return ok(R"({"replay":"p1","state":")" + state + R"(","matched":20,"events":)" +
            std::to_string(events) + R"(,"replayed":)" + std::to_string(events) + "}");
}

class ReplayCliTest : public testing::Test {
 protected:
  Ran replay(const Script& script, const std::string& arguments) {
    std::ofstream(directory_.file("token")) << "open-sesame\n";
    return test::run_hapax(directory_, "replay --token-file token --admin http://127.0.0.1:" +
                                           std::to_string(script.port()) + " " + arguments);
  }
  test::TempDir directory_;
};

TEST_F(ReplayCliTest, OneEventIsReplayed) {
  Script admin({ok(R"({"deliveries":["d1","d2"]})")}, [] {});
  const Ran ran = replay(admin, "e1 --as new --destination work --accept-duplicate");
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_EQ(ran.out, "{\"deliveries\":[\"d1\",\"d2\"]}\n");
  EXPECT_THAT(admin.requests().at(0), HasSubstr("POST /v1/events/e1/replay "));
  EXPECT_EQ(body_of(admin.requests().at(0)),
            R"({"as":"new","accept_duplicate":true,"destination":"work"})");
}

TEST_F(ReplayCliTest, ADryRunOnlyCounts) {
  Script admin({ok(R"({"matched":20})")}, [] {});
  const Ran ran =
      replay(admin, "--source demo --status dead --since 2025-10-09T00:00:00Z --dry-run");
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_EQ(ran.out, "{\"matched\":20}\n");
  EXPECT_EQ(admin.requests().size(), 1U);
  EXPECT_THAT(body_of(admin.requests().at(0)),
              HasSubstr(R"("filter":{"source":"demo","status":"dead",)"
                        R"("since":"2025-10-09T00:00:00Z"})"));
  EXPECT_THAT(body_of(admin.requests().at(0)), HasSubstr(R"("dry_run":true)"));
}

TEST_F(ReplayCliTest, ABulkReplayIsFollowedToItsEnd) {
  Script admin({answer("202 Accepted", R"({"replay":"p1","matched":20})"), job("running", 5),
                job("running", 15), job("done", 20)},
               [] {});
  const Ran ran = replay(admin, "--all --rate 50");
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_THAT(ran.out, HasSubstr(R"("state":"done")"));
  EXPECT_THAT(body_of(admin.requests().at(0)), HasSubstr(R"("rate":50)"));
  EXPECT_THAT(admin.requests().at(3), HasSubstr("GET /v1/replays/p1 "));
}

std::string key_in(const std::string& request) {
  const std::string name = "\r\nIdempotency-Key: ";
  const std::size_t at = request.find(name);
  if (at == std::string::npos) return "";
  const std::size_t begin = at + name.size();
  return request.substr(begin, request.find('\r', begin) - begin);
}

TEST_F(ReplayCliTest, ALostResponseIsRetriedWithTheSameKey) {
  const std::string busy = answer("503 Service Unavailable", R"({"detail":"it starts"})");
  Script one({"", busy, "", ok(R"({"deliveries":["d1"]})")}, [] {});
  EXPECT_EQ(replay(one, "e1").exit_code, 0);
  const std::vector<std::string> requests = one.requests();
  ASSERT_EQ(requests.size(), 4U);
  EXPECT_EQ(key_in(requests[0]).size(), 32U) << requests[0];
  for (const std::string& each : requests) EXPECT_EQ(each, requests[0]);
  Script many({"", answer("202 Accepted", R"({"replay":"p1","matched":20})")}, [] {});
  EXPECT_EQ(replay(many, "--all --detach").exit_code, 0);
  ASSERT_EQ(many.requests().size(), 2U);
  EXPECT_EQ(many.requests()[0], many.requests()[1]);
  EXPECT_NE(key_in(many.requests()[0]), key_in(requests[0])) << "each command has its own key";
}

TEST_F(ReplayCliTest, ATimedOutRequestExplainsHowToRetry) {
  Script silent({""}, [] {});
  const Ran ran = replay(silent, "e1");
  EXPECT_EQ(ran.exit_code, 1);
  const std::vector<std::string> requests = silent.requests();
  EXPECT_EQ(requests.size(), 6U) << "one request and five retries";
  EXPECT_THAT(ran.errors + ran.out, HasSubstr("--key " + key_in(requests.at(0))));
  Script later({ok(R"({"deliveries":["d1"]})")}, [] {});
  EXPECT_EQ(replay(later, "e1 --key mine").exit_code, 0);
  EXPECT_EQ(key_in(later.requests().at(0)), "mine");
}

TEST_F(ReplayCliTest, AnUnavailableServerIsRetriedWithTheSameKey) {
  const std::string unknown = answer("503 Service Unavailable", R"({"detail":"answer lost"})");
  const std::string proxy = answer("502 Bad Gateway", "no upstream");
  Script admin({unknown, proxy, ok(R"({"deliveries":["d1"]})")}, [] {});
  EXPECT_EQ(replay(admin, "e1 --as new").exit_code, 0);
  const std::vector<std::string> requests = admin.requests();
  ASSERT_EQ(requests.size(), 3U);
  EXPECT_NE(key_in(requests[0]), "");
  for (const std::string& each : requests) EXPECT_EQ(each, requests[0]);
}

TEST_F(ReplayCliTest, AServerThatStaysUnavailableExplainsHowToRetry) {
  Script admin({answer("503 Service Unavailable", R"({"detail":"The queue is full."})")}, [] {});
  const Ran ran = replay(admin, "e1 --as new");
  EXPECT_EQ(ran.exit_code, 1);
  const std::vector<std::string> requests = admin.requests();
  EXPECT_EQ(requests.size(), 6U) << "one request and five retries";
  EXPECT_THAT(ran.errors + ran.out, HasSubstr("The queue is full; the outcome is unknown"));
  EXPECT_THAT(ran.errors + ran.out, HasSubstr("--key " + key_in(requests.at(0))));
}

// The server answers these before it reads the key.
TEST_F(ReplayCliTest, AnErrorThatDoesNotDecideTheLostRequestExplainsHowToRetry) {
  Script changed({"", answer("401 Unauthorized", R"({"detail":"The token is invalid."})")}, [] {});
  const Ran ran = replay(changed, "e1 --as new");
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.errors + ran.out, HasSubstr("The token is invalid"));
  EXPECT_THAT(ran.errors + ran.out, HasSubstr("--key " + key_in(changed.requests().at(0))));
  Script decided({"", answer("409 Conflict", R"({"detail":"needs new"})")}, [] {});
  const Ran refused = replay(decided, "e1");
  EXPECT_THAT(refused.errors + refused.out, HasSubstr("needs new"));
  EXPECT_THAT(refused.errors + refused.out, Not(HasSubstr("--key"))) << "nothing has changed";
}

TEST_F(ReplayCliTest, JobsAndDeliveriesCanBeCancelled) {
  Script jobs({job("cancelled", 3)}, [] {});
  EXPECT_THAT(replay(jobs, "--cancel-job p1").out, HasSubstr("cancelled"));
  EXPECT_THAT(jobs.requests().at(0), HasSubstr("DELETE /v1/replays/p1 "));
  Script deliveries({ok(R"({"delivery":"d1","status":"cancelled"})")}, [] {});
  EXPECT_EQ(replay(deliveries, "--cancel d1").exit_code, 0);
  EXPECT_THAT(deliveries.requests().at(0), HasSubstr("POST /v1/deliveries/d1/cancel "));
}

TEST_F(ReplayCliTest, WrongUsageAndRejectionsAreReported) {
  Script admin(
      {answer("409 Conflict", R"({"type":"urn:hapax:error:not-replayable","detail":"needs new"})")},
      [] {});
  EXPECT_EQ(replay(admin, "").exit_code, 2);
  EXPECT_EQ(replay(admin, "e1 --source demo").exit_code, 2);
  EXPECT_EQ(replay(admin, "e1 --as other").exit_code, 2);
  EXPECT_TRUE(admin.requests().empty());
  const Ran ran = replay(admin, "e1");
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.errors + ran.out, HasSubstr("needs new"));
}

}  // namespace
}  // namespace hapax
