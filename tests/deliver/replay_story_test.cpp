// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "gateway/serve.hpp"

#include "base/sha256.hpp"
#include "model/ids.hpp"
#include "support/eventually.hpp"
#include "support/postgres.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <thread>

// Replays and listeners of a real server, on persistent stores.
namespace hapax::test {

namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using store::NameKind;
using testing::HasSubstr;
using testing::Not;

constexpr std::size_t kAtOnce = 500;

// Writes events of "demo" for "work" into the store while no server runs.
class Backlog {
 public:
  explicit Backlog(const store::Driver& driver) : driver_(driver) {
    source_ = SourceNo(driver.catalog->number_of(NameKind::source, "demo").value());
    target_ = {.to =
                   DestinationNo(driver.catalog->number_of(NameKind::destination, "work").value())};
  }

  void admit(std::size_t count) {
    for (std::size_t i = 0; i < count; i += kAtOnce) admit_some(i, std::min(count, i + kAtOnce));
  }
  // Leases and settles all due deliveries.
  void settle_next(const Disposition& disposition) {
    for (;;) {
      const store::LeaseRequest request{.from = target_.to,
                                        .max = kAtOnce,
                                        .lease = minutes(10),
                                        .holder = {Holder::Kind::push, 999}};
      const store::Answers leased = driver_.queue->write({.lease = std::span(&request, 1)});
      ASSERT_TRUE(leased.lease) << leased.lease.error().to_string();
      std::vector<store::Settlement> settlements;
      for (const store::Leased& each : leased.lease->at(0).deliveries) {
        settlements.push_back({{each.event.no, each.delivery}, each.fence, disposition});
      }
      if (settlements.empty()) return;
      ASSERT_TRUE(driver_.queue->write({.settle = settlements}).settle);
    }
  }

 private:
  void admit_some(std::size_t from, std::size_t to) {
    std::vector<std::string> ids;
    for (std::size_t i = from; i < to; ++i) ids.push_back("event-" + std::to_string(i));
    std::vector<store::Arrival> arrivals;
    for (const std::string& each : ids) {
      arrivals.push_back({.no = numbers_.next(),
                          .source = source_,
                          .key = each,
                          .id = each,
                          .digest = sha256(each),
                          .body = each,
                          .targets = std::span(&target_, 1)});
    }
    const store::Admit request{.arrivals = arrivals};
    const store::Answers answers = driver_.queue->write({.admit = std::span(&request, 1)});
    ASSERT_TRUE(answers.admit.at(0)) << answers.admit.at(0).error().to_string();
  }

  const store::Driver& driver_;
  SourceNo source_;
  store::Target target_;
  std::unique_ptr<Clock> clock_ = make_system_clock();
  EventNumbers numbers_{*clock_, NodeNo(kMaxNode)};
};

// `headers` are lines that end with \r\n.
HttpAnswer admin(const Serve& serve, const std::string& method, const std::string& target,
                 const std::string& body = "", const std::string& headers = "") {
  std::ifstream file(serve.file("admin.token"));
  std::string token;
  std::getline(file, token);
  RawClient client(serve.admin_port());
  client.send(method + " " + target + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " +
              token + "\r\n" + headers + "Content-Length: " + std::to_string(body.size()) +
              "\r\n\r\n" + body);
  return client.receive();
}

// The text of a member of a flat JSON object.
std::string member(const std::string& json, const std::string& name) {
  const std::string key = "\"" + name + "\":";
  const std::size_t at = json.find(key);
  if (at == std::string::npos) return "";
  const std::size_t begin = at + key.size() + (json[at + key.size()] == '"' ? 1 : 0);
  return json.substr(begin, json.find_first_of(",}\"", begin) - begin);
}

std::size_t count_in(const std::string& json, const std::string& name) {
  const std::string text = member(json, name);
  return text.empty() ? 0 : std::stoul(text);
}

// Calls `ask` until `done` accepts its result.
std::string wait_for(const std::function<std::string()>& ask,
                     const std::function<bool(const std::string&)>& done) {
  std::string answer;
  const auto asked = [&] {
    answer = ask();
    return done(answer);
  };
  EXPECT_TRUE(eventually(asked, minutes(5))) << "timed out; last result: " << answer;
  return answer;
}

std::string run_cli(const Serve& serve, const std::string& arguments) {
  const std::string command = std::string(HAPAX_BINARY) + " " + arguments +
                              " --admin http://127.0.0.1:" + std::to_string(serve.admin_port()) +
                              " --token-file " + serve.file("admin.token") + " 2>&1";
  std::FILE* pipe = popen(command.c_str(), "r");
  std::string out;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) out += static_cast<char>(c);
  EXPECT_EQ(pclose(pipe), 0) << command << out;
  return out;
}

// Expects `events` events with `deliveries` deliveries each, the last of which is pending.
void expect_deliveries(const std::string& url, std::size_t events, std::size_t deliveries) {
  StoreView view(url);
  store::EventQuery query{.limit = store::kMaxPage};
  std::size_t seen = 0;
  for (bool more = true; more;) {
    const store::EventPage page = view.driver().catalog->events(query).value();
    for (const store::EventRow& each : page.events) {
      const auto detail = view.driver().catalog->event(each.no).value();
      ASSERT_TRUE(detail.value);
      ASSERT_EQ(detail.value->deliveries.size(), deliveries) << each.id;
      EXPECT_EQ(detail.value->deliveries.back().state, DeliveryState::pending) << each.id;
      ++seen;
    }
    more = page.next.has_value();
    if (more) query.before = *page.next;
  }
  EXPECT_EQ(seen, events);
}

std::size_t most_replays_of_an_event(const std::string& url) {
  StoreView view(url);
  std::size_t most = 0;
  const store::EventPage page = view.driver().catalog->events({.limit = store::kMaxPage}).value();
  for (const store::EventRow& each : page.events) {
    const auto detail = view.driver().catalog->event(each.no).value();
    if (!detail.value) continue;
    const std::vector<store::DeliveryRow>& rows = detail.value->deliveries;
    const auto made = std::count_if(rows.begin(), rows.end(),
                                    [](const auto& row) { return row.replay_of.has_value(); });
    most = std::max(most, static_cast<std::size_t>(made));
  }
  return most;
}

// A separate store for each test.
struct Place {
  explicit Place(bool postgres)
      : database(postgres ? std::make_unique<PostgresDatabase>() : nullptr) {}
  std::string config() const { return demo_config(database ? database->url() : "sqlite:hapax.db"); }
  std::string url(const Serve& serve) const {
    return database ? database->url() : "sqlite:" + serve.file("hapax.db");
  }
  std::unique_ptr<PostgresDatabase> database;
};

class ReplayStory : public testing::TestWithParam<bool> {
 protected:
  // Stores events settled with `disposition` and starts the server.
  void begin(std::size_t count, const Disposition& disposition) {
    serve_.stop();
    {
      StoreView view(place_.url(serve_));
      Backlog backlog(view.driver());
      backlog.admit(count);
      backlog.settle_next(disposition);
    }
    serve_.start();
  }
  std::string job(const std::string& replay) {
    return admin(serve_, "GET", "/v1/replays/" + replay).body;
  }
  std::string begin_replay(const std::string& body) {
    const HttpAnswer answer = admin(serve_, "POST", "/v1/replay", body);
    EXPECT_EQ(answer.status, 202) << answer.body;
    return member(answer.body, "replay");
  }
  std::string ended(const std::string& replay) {
    return wait_for([&] { return job(replay); },
                    [](const std::string& json) { return member(json, "state") != "running"; });
  }

  Place place_{GetParam()};
  Serve serve_{place_.config()};
};

TEST_P(ReplayStory, DeadDeliveriesAreCountedAndThenReplayed) {
  const auto count = static_cast<std::size_t>(rounds(10'000));
  begin(count, Dead{});
  const std::string which = "replay --source demo --status dead ";
  EXPECT_EQ(run_cli(serve_, which + "--dry-run"), "{\"matched\":" + std::to_string(count) + "}\n");
  const std::string job = run_cli(serve_, which + "--rate 100000");
  EXPECT_EQ(member(job, "state"), "done") << job;
  EXPECT_EQ(count_in(job, "matched"), count);
  EXPECT_EQ(count_in(job, "replayed"), count);
  EXPECT_EQ(run_cli(serve_, which + "--dry-run"), "{\"matched\":0}\n");
  serve_.stop();
  expect_deliveries(place_.url(serve_), count, 1);
}

// Replays as new, so that an event replayed twice would have an additional delivery.
TEST_P(ReplayStory, AKilledServerResumesItsReplayWithoutRepeats) {
  const auto count = static_cast<std::size_t>(rounds(10'000));
  begin(count, Ack{});
  const std::string replay = begin_replay(R"({"filter":{"status":"completed"},"as":"new","rate":)" +
                                          std::to_string(count / 4) + "}");
  for (std::size_t share = 1; share <= 3; ++share) {
    wait_for(
        [&] { return job(replay); },
        [&](const std::string& json) { return count_in(json, "events") >= count * share / 5; });
    EXPECT_TRUE(serve_.kill_it());
    serve_.start();
  }
  EXPECT_EQ(member(ended(replay), "state"), "done");
  serve_.stop();
  expect_deliveries(place_.url(serve_), count, 2);
}

// The server is killed after the request; the same request is repeated during and after the job.
TEST_P(ReplayStory, KeysSurviveAKilledServer) {
  begin(200, Ack{});
  const std::string all = R"({"filter":{"status":"completed"},"as":"new","rate":100})";
  const std::string headers = "Idempotency-Key: of-mine\r\n";
  const HttpAnswer first = admin(serve_, "POST", "/v1/replay", all, headers);
  EXPECT_EQ(first.status, 202) << first.body;
  const std::string event =
      member(admin(serve_, "GET", "/v1/events?limit=1&id=event-7").body, "event");
  const auto again = [&] {
    const HttpAnswer answer = admin(serve_, "POST", "/v1/replay", all, headers);
    EXPECT_EQ(answer.status, 202) << answer.body;
    EXPECT_EQ(answer.body, first.body);
  };
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(serve_.kill_it());
    serve_.start();
    again();
  }
  EXPECT_EQ(member(ended(member(first.body, "replay")), "state"), "done");
  again();
  EXPECT_EQ(admin(serve_, "POST", "/v1/replay", R"({"filter":{}})", headers).problem(),
            "key-reused");
  const std::string one = "/v1/events/" + event + "/replay";
  serve_.stop();
  {
    StoreView view(place_.url(serve_));
    Backlog(view.driver()).settle_next(Dead{});
  }
  serve_.start();
  const HttpAnswer dead = admin(serve_, "POST", one, "", headers);
  EXPECT_EQ(dead.status, 200) << dead.body;
  EXPECT_TRUE(serve_.kill_it());
  {
    StoreView view(place_.url(serve_));
    Backlog(view.driver()).settle_next(Ack{});
  }
  serve_.start();
  EXPECT_EQ(admin(serve_, "POST", one, "", headers).body, dead.body);
  EXPECT_EQ(most_replays_of_an_event(place_.url(serve_)), 1U);
}

TEST_P(ReplayStory, ACancelledReplayStaysCancelled) {
  constexpr std::size_t kEvents = 500;
  begin(kEvents, Dead{});
  // Without the cancellation it would run for minutes.
  const std::string replay = begin_replay(R"({"filter":{"status":"dead"},"rate":1})");
  wait_for([&] { return job(replay); },
           [](const std::string& json) { return count_in(json, "replayed") >= 2; });
  const std::string cancelled = run_cli(serve_, "replay --cancel-job " + replay);
  EXPECT_EQ(member(cancelled, "state"), "cancelled");
  serve_.stop();
  serve_.start();
  EXPECT_EQ(member(job(replay), "state"), "cancelled");
  const auto left = [&] {
    return count_in(run_cli(serve_, "replay --status dead --dry-run"), "matched");
  };
  const std::size_t before = left();
  EXPECT_LE(before + 2, kEvents);
  // A replay without effect: once it is done, the server has scanned the cancelled one too.
  EXPECT_EQ(member(ended(begin_replay(R"({"filter":{"status":"pending"}})")), "state"), "done");
  EXPECT_EQ(left(), before);
  EXPECT_EQ(member(job(replay), "state"), "cancelled");
}

// A developer's machine gets all events from its registration on, also while it is disconnected.
TEST_P(ReplayStory, AListenerMissesNothingWhileDisconnected) {
  const auto post = [&](const std::string& id) {
    RawClient client(serve_.port());
    return member(serve_.post(client, id, R"({"a":1})").body, "event");
  };
  const auto detail = [&](const std::string& event) {
    return admin(serve_, "GET", "/v1/events/" + event).body;
  };
  const std::string before = post("before");
  EXPECT_EQ(admin(serve_, "POST", "/v1/listen", R"({"name":"work"})").problem(), "name-taken");
  EXPECT_EQ(admin(serve_, "POST", "/v1/listen", R"({"name":"d","sources":["x"]})").problem(),
            "source-unknown");
  EXPECT_EQ(admin(serve_, "POST", "/v1/listen", R"({"name":"a b"})").status, 400);
  const std::string here = R"({"name":"laptop","sources":["demo"]})";
  EXPECT_EQ(admin(serve_, "POST", "/v1/listen", here).status, 200);
  EXPECT_THAT(detail(post("first")), HasSubstr("\"destination\":\"laptop\""));
  EXPECT_THAT(detail(before), Not(HasSubstr("laptop")));
  serve_.stop();
  serve_.start();
  EXPECT_THAT(detail(post("while away")), HasSubstr("\"destination\":\"laptop\""));
  serve_.signal(SIGHUP);
  wait_for([&] { return serve_.log(); },
           [](const std::string& log) { return log.find("reloaded") != std::string::npos; });
  EXPECT_THAT(detail(post("after a reload")), HasSubstr("\"destination\":\"laptop\""));
  EXPECT_EQ(admin(serve_, "DELETE", "/v1/listen/laptop").status, 200);
  EXPECT_EQ(admin(serve_, "DELETE", "/v1/listen/laptop").status, 404);
  EXPECT_THAT(detail(post("last")), Not(HasSubstr("laptop")));
}

// A destination is removed from the configuration. Its pending deliveries must not go to a laptop.
TEST_P(ReplayStory, AListenerCannotUseTheNameOfADestinationWithABacklog) {
  const auto listen = [&] { return admin(serve_, "POST", "/v1/listen", R"({"name":"work"})"); };
  {
    StoreView view(place_.url(serve_));
    Backlog(view.driver()).admit(3);
  }
  EXPECT_EQ(listen().problem(), "name-taken") << "the destination is configured";
  std::string config = place_.config();
  for (std::size_t at = config.find("\"work\""); at != std::string::npos;
       at = config.find("\"work\"", at)) {
    config.replace(at, 6, "\"next\"");
  }
  serve_.write_config(config);
  serve_.stop();
  serve_.start();
  const HttpAnswer refused = listen();
  EXPECT_EQ(refused.status, 409) << refused.body;
  EXPECT_EQ(refused.problem(), "name-taken");
  EXPECT_THAT(refused.body, HasSubstr("A former destination"));
  serve_.stop();
  {
    StoreView view(place_.url(serve_));
    Backlog(view.driver()).settle_next(Ack{});
  }
  serve_.start();
  EXPECT_EQ(listen().status, 200) << "no pending deliveries";
  EXPECT_EQ(listen().status, 200);
}

INSTANTIATE_TEST_SUITE_P(Stores, ReplayStory, testing::Bool(),
                         [](const auto& store) { return store.param ? "Postgres" : "Sqlite"; });

TEST(PostgresReplayNodes, AKeyIsUniqueAcrossNodes) {
  Place place(true);
  Serve one(place.config());
  Serve two(place.config());
  {
    StoreView view(place.url(one));
    Backlog backlog(view.driver());
    backlog.admit(20);
    backlog.settle_next(Ack{});
  }
  const std::string event = member(admin(one, "GET", "/v1/events?limit=1").body, "event");
  const std::string all = R"({"filter":{"status":"completed"},"as":"new","rate":1000})";
  for (int round = 0; round < 5; ++round) {
    const std::string key = "Idempotency-Key: key-" + std::to_string(round) + "\r\n";
    std::array<std::string, 8> answers;
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < answers.size(); ++i) {
      threads.emplace_back([&, i] {
        const Serve& node = i % 2 == 0 ? one : two;
        const std::string target = i < 4 ? "/v1/events/" + event + "/replay" : "/v1/replay";
        HttpAnswer answer;
        EXPECT_TRUE(eventually([&] {
          answer = admin(node, "POST", target, i < 4 ? R"({"as":"new"})" : all, key);
          return answer.status != 503;  // a node counts for one request at a time
        }));
        answers.at(i) = answer.body;
      });
    }
    for (std::thread& each : threads) each.join();
    for (std::size_t i = 0; i < answers.size(); ++i) {
      EXPECT_EQ(answers.at(i), answers.at(i / 4 * 4)) << round;
    }
    const std::string replay = member(answers.at(4), "replay");
    wait_for([&] { return admin(one, "GET", "/v1/replays/" + replay).body; },
             [](const std::string& json) { return member(json, "state") == "done"; });
    StoreView view(place.url(one));
    Backlog(view.driver()).settle_next(Ack{});
    EXPECT_LE(most_replays_of_an_event(place.url(one)), 2U * static_cast<std::size_t>(round + 1));
  }
  const std::string jobs = admin(one, "GET", "/v1/replays").body;
  std::size_t count = 0;
  for (std::size_t at = jobs.find("\"replay\":"); at != std::string::npos;
       at = jobs.find("\"replay\":", at + 1)) {
    ++count;
  }
  EXPECT_EQ(count, 5U) << jobs;
}

TEST(PostgresReplayNodes, AnotherNodeSeesAListenerAndResumesAReplay) {
  Place place(true);
  Serve one(place.config());
  Serve two(place.config());
  EXPECT_EQ(admin(one, "POST", "/v1/listen", R"({"name":"laptop"})").status, 200);
  int sent = 0;
  wait_for(
      [&] {
        RawClient client(two.port());
        const HttpAnswer answer = two.post(client, "id-" + std::to_string(++sent), R"({"a":1})");
        return admin(two, "GET", "/v1/events/" + member(answer.body, "event")).body;
      },
      [](const std::string& json) { return json.find("laptop") != std::string::npos; });
  {
    StoreView view(place.url(one));
    Backlog backlog(view.driver());
    backlog.admit(300);
    backlog.settle_next(Ack{});
  }
  const std::string replay =
      member(admin(one, "POST", "/v1/replay",
                   R"({"filter":{"status":"completed"},"as":"new","destination":"work","rate":50})")
                 .body,
             "replay");
  ASSERT_NE(replay, "");
  wait_for([&] { return admin(two, "GET", "/v1/replays/" + replay).body; },
           [](const std::string& json) { return count_in(json, "replayed") >= 20; });
  EXPECT_TRUE(one.kill_it());
  const std::string done =
      wait_for([&] { return admin(two, "GET", "/v1/replays/" + replay).body; },
               [](const std::string& json) { return member(json, "state") == "done"; });
  EXPECT_GE(count_in(done, "matched"), 300U);
  EXPECT_LE(count_in(done, "replayed"), count_in(done, "matched"));
  EXPECT_EQ(most_replays_of_an_event(place.url(two)), 1U);
}

}  // namespace

}  // namespace hapax::test
