// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "cli/running_server.hpp"
#include "http/raw_server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <mutex>
#include <utility>
#include <vector>

namespace hapax {
namespace {

using test::Ran;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string answer(const std::string& status, const std::string& type, const std::string& body) {
  return "HTTP/1.1 " + status + "\r\nContent-Type: " + type +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string events(int from, int count, const std::string& next) {
  std::string list;
  for (int i = from; i < from + count; ++i) {
    list += (list.empty() ? "" : ",") + ("{\"event\":\"e" + std::to_string(i)) +
            "\",\"source\":\"demo\",\"tenant\":null,\"id\":\"i\\u001b[2J\"}";
  }
  return answer("200 OK", "application/json", "{\"events\":[" + list + "],\"next\":" + next + "}");
}

// A scripted admin API: the n-th request gets the n-th response of the test.
class AdminTest : public testing::Test {
 protected:
  void set_answers(std::vector<std::string> answers) {
    const std::lock_guard lock(mutex_);
    answers_ = std::move(answers);
  }
  Ran run(const std::string& arguments) {
    std::ofstream(directory_.file("token")) << "open-sesame\n";
    return test::run_hapax(directory_, arguments + " --token-file token --admin http://127.0.0.1:" +
                                           std::to_string(server_.port()));
  }
  // The output on a terminal, without carriage returns.
  std::string run_on_terminal(const std::string& arguments) {
    std::ofstream(directory_.file("token")) << "t\n";
    const std::string command =
        "version >/dev/null; script -qec '" HAPAX_BINARY " " + arguments +
        " --token-file token --admin http://127.0.0.1:" + std::to_string(server_.port()) +
        "' /dev/null";
    std::string out = test::run_hapax(directory_, command).out;
    out.erase(std::remove(out.begin(), out.end(), '\r'), out.end());
    return out;
  }
  std::vector<std::string> targets_requested() {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> targets;
    for (const std::string& each : requests_)
      targets.push_back(each.substr(0, each.find(" HTTP/")));
    return targets;
  }
  std::string first_request() {
    const std::lock_guard lock(mutex_);
    return requests_.empty() ? "" : requests_.front();
  }

  test::TempDir directory_;
  std::mutex mutex_;
  std::vector<std::string> answers_;
  std::vector<std::string> requests_;
  test::RawServer server_{[this](int fd, int) {
    for (std::string request = test::read_request(fd); !request.empty();
         request = test::read_request(fd)) {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request);
      if (requests_.size() <= answers_.size()) test::write_text(fd, answers_[requests_.size() - 1]);
    }
  }};
};

TEST_F(AdminTest, EventsReadsPagesUpToTheLimit) {
  set_answers({events(0, 100, "\"a b\""), events(100, 20, "\"c\"")});
  const Ran ran =
      run("events --limit 120 --source demo --order-key 'x&y' --since 2025-10-09T00:00:00Z");
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'), 120);
  EXPECT_THAT(ran.out, HasSubstr("{\"event\":\"e119\""));
  const std::string query = "&source=demo&order_key=x%26y&since=2025-10-09T00%3A00%3A00Z";
  EXPECT_THAT(targets_requested(), ElementsAre("GET /v1/events?limit=100" + query,
                                               "GET /v1/events?limit=20" + query + "&after=a%20b"));
  EXPECT_THAT(first_request(), HasSubstr("Authorization: Bearer open-sesame\r\n"));
}

TEST_F(AdminTest, EventsStopsAfterTheLastPage) {
  set_answers({events(0, 3, "null")});
  const Ran ran = run("events");
  EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'), 3);
  EXPECT_EQ(targets_requested().size(), 1U);
}

TEST_F(AdminTest, NoEventsPrintNothing) {
  set_answers({events(0, 0, "null")});
  const Ran ran = run("events");
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_EQ(ran.out, "");
}

TEST_F(AdminTest, AServerErrorIsReportedVerbatim) {
  set_answers({answer("404 Not Found", "application/problem+json",
                      R"({"type":"urn:hapax:error:not-found","detail":"No such event."})")});
  const Ran ran = run("show e1");
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.errors, HasSubstr("the server answered 404: No such event."));
  EXPECT_THAT(targets_requested(), ElementsAre("GET /v1/events/e1"));
}

TEST_F(AdminTest, AWrongFilterIsWrongUsage) {
  set_answers(
      {answer("400 Bad Request", "application/problem+json", R"({"detail":"No status."})")});
  EXPECT_EQ(run("events --status nope").exit_code, 2);
}

TEST_F(AdminTest, ANonHapaxServerIsReported) {
  set_answers({answer("200 OK", "text/html", "<html>")});
  EXPECT_THAT(run("events").errors, HasSubstr("is this the admin listener?"));
}

TEST_F(AdminTest, ShowWritesTheBytesOfABody) {
  const std::string bytes("\0\x01{}\n\xff", 6);
  set_answers({answer("200 OK", "application/octet-stream", bytes)});
  const Ran ran = run("show --body e1");
  EXPECT_EQ(ran.out, bytes);
  EXPECT_THAT(targets_requested(), ElementsAre("GET /v1/events/e1/body"));
}

TEST_F(AdminTest, ShowPrintsTheFullJsonToAPipe) {
  set_answers({answer("200 OK", "application/json", R"({"event":"e1","headers":[["a","b"]]})")});
  EXPECT_EQ(run("show e1").out, "{\"event\":\"e1\",\"headers\":[[\"a\",\"b\"]]}\n");
}

TEST_F(AdminTest, ShowPrintsTablesOnATerminal) {
  set_answers({answer("200 OK", "application/json", R"({"event":"e1","source":"demo","deliveries":[
    {"delivery":"e1.1","destination":"orders","status":"pending","reason":null,"attempts":2,
     "abandons":0,"due_at":"2025-10-09T08:55:00.250000Z","lease_until":null,"ended_at":null,
     "replay_of":null,"waiting":false,"blocking":false},
    {"delivery":"e1.2","destination":"audit","status":"dead","reason":"abandoned","attempts":0,
     "abandons":3,"due_at":null,"lease_until":null,"ended_at":"2025-10-09T08:54:01.000000Z",
     "replay_of":null,"waiting":false,"blocking":true},
    {"delivery":"e1.3","destination":"mail","status":"leased","reason":null,"attempts":0,
     "abandons":0,"due_at":null,"lease_until":"2025-10-09T08:59:00.000000Z","ended_at":null,
     "replay_of":"e1.1","waiting":false,"blocking":false}],
    "attempts":[
    {"delivery":"e1.1","fence":1,"outcome":"retried","at":"2025-10-09T08:53:20.808000Z",
     "took_ms":12,"settled_at":"","http_status":500,"error":"status","excerpt":"a\nb \u001b[2J"},
    {"delivery":"e1.3","fence":2,"outcome":"released","at":"2025-10-09T08:53:26.000000Z",
     "took_ms":125000,"settled_at":"","http_status":null,"error":"","excerpt":""},
    {"delivery":"e1.1","fence":3,"outcome":"retried","at":"2025-10-09T08:53:27.000000Z",
     "took_ms":15012,"settled_at":"","http_status":null,"error":"timed-out","excerpt":""}],
    "variants":[{"sha256":"abcd","at":"2025-10-09T08:53:30.000000Z"}]})")});
  EXPECT_EQ(run_on_terminal("show e1"), R"(event       e1
source      demo
deliveries
  delivery  destination  status            attempts        next or ended (UTC)                         replay of
  e1.1      orders       pending           2               due 2025-10-09 08:55:00
  e1.2      audit        dead (abandoned)  0, 3 abandoned  ended 2025-10-09 08:54:01, blocks its lane
  e1.3      mail         leased            1               leased until 2025-10-09 08:59:00            e1.1
attempts
  delivery  number  when (UTC)           took    result     excerpt
  e1.1      1       2025-10-09 08:53:20  12 ms   500        a b ?[2J
  e1.1      2       2025-10-09 08:53:27  15.0 s  timed-out
  e1.3      1       2025-10-09 08:53:26  2m 5s   released
changed bodies under the same id: received (UTC), sha256
  2025-10-09 08:53:30  abcd
)");
}

TEST_F(AdminTest, ShowOmitsEmptyColumns) {
  set_answers({answer("200 OK", "application/json", R"({"event":"e1","deliveries":[
    {"delivery":"e1.1","destination":"orders","status":"pending","waiting":true}],
    "attempts":[{"delivery":"e1.1","at":"whenever","took_ms":7,"http_status":302,
     "error":"redirect","excerpt":null}]})")});
  EXPECT_EQ(run_on_terminal("show e1"), R"(event       e1
deliveries
  delivery  destination  status   attempts  next or ended (UTC)
  e1.1      orders       pending  1         waiting in its lane
attempts
  number  when (UTC)  took  result
  1       whenever    7 ms  302 redirect
)");
}

TEST_F(AdminTest, ShowOmitsEmptyTables) {
  set_answers({answer("200 OK", "application/json", R"({"event":"e1","deliveries":[7,null],
    "attempts":[],"variants":"x"})")});
  EXPECT_THAT(run_on_terminal("show e1"), StartsWith("event       e1\n"));
}

TEST_F(AdminTest, ATerminalGetsATableWithoutControlCharacters) {
  set_answers({events(0, 2, "null")});
  const std::string out = run_on_terminal("events");
  EXPECT_THAT(out, HasSubstr("received_at"));
  EXPECT_THAT(out, HasSubstr("i?[2J"));
  EXPECT_THAT(out, Not(HasSubstr("\x1b[2J")));
}

TEST_F(AdminTest, ATableShowsATenantAfterItsSource) {
  set_answers({answer("200 OK", "application/json",
                      R"({"events":[{"event":"e1","source":"demo","tenant":"acme","id":"i"}]})")});
  const std::string out = run_on_terminal("events");
  EXPECT_THAT(out, HasSubstr("demo/acme "));
  EXPECT_THAT(out, Not(HasSubstr("acme/acme")));
}

TEST_F(AdminTest, ATableTruncatesAtCharacterBoundaries) {
  std::string id;
  for (int i = 0; i < 60; ++i) id += "\xc3\xa9";
  set_answers({answer("200 OK", "application/json",
                      R"({"events":[{"event":"e1","source":"demo","id":")" + id + R"("},)" +
                          R"({"event":"e2","source":"demo","id":"x","status":"dead"}]})")});
  const std::string out = run_on_terminal("events");
  const std::string cut = id.substr(0, 2 * 45);
  EXPECT_THAT(out, HasSubstr(cut + "..."));
  EXPECT_THAT(out, Not(HasSubstr(cut + "\xc3")));
  EXPECT_THAT(out, HasSubstr("x" + std::string(47 + 2, ' '))) << "all rows have the same width";
}

TEST(Admin, AnInvalidTokenFileIsReported) {
  const test::TempDir directory;
  std::ofstream(directory.file("token")) << std::string(
      "\x7f"
      "ELF\x02\x01\0\r",
      8);
  const Ran ran =
      test::run_hapax(directory, "show e1 --token-file token --admin http://127.0.0.1:1");
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.errors, HasSubstr("token does not contain a token"));
}

TEST(Admin, AStoppedServerAndAMissingTokenAreReported) {
  const test::TempDir directory;
  EXPECT_THAT(test::run_hapax(directory, "events").errors,
              HasSubstr("without that file, give --admin and --token-file"));
  EXPECT_EQ(test::run_hapax(directory, "init").exit_code, 0);
  EXPECT_THAT(test::run_hapax(directory, "events").errors, HasSubstr("contains no token"));
  std::uint16_t port = 0;
  {
    const test::RawServer server([](int, int) {});
    port = server.port();
  }
  std::ofstream(directory.file("token")) << "t\n";
  EXPECT_THAT(test::run_hapax(directory, "show e1 --token-file token --admin http://127.0.0.1:" +
                                             std::to_string(port))
                  .errors,
              HasSubstr("is 'hapax serve' running there?"));
}

}  // namespace
}  // namespace hapax
