// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "admin/api.hpp"
#include "model/ids.hpp"
#include "support/eventually.hpp"

#include <gmock/gmock.h>

// Replay and cancellation, over the memory store. tests/deliver/ has end-to-end scenarios with a
// complete server.
namespace hapax::test {

namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace json = boost::json;

class ReplayApi : public testing::TestWithParam<StoreKind> {
 protected:
  std::string make(const std::string& id, const std::string& order_key = "",
                   std::vector<std::string> to = {"work"}) {
    return admit(api_, {{.id = id, .order_key = order_key, .destinations = std::move(to)}}).at(0);
  }
  std::string settle_next(const Disposition& disposition, milliseconds horizon = {}) {
    return settle_first(api_, "work", disposition, horizon);
  }
  std::string states(const std::string& event) { return states_of(api_, event); }
  ApiAnswer replay(const std::string& event, const std::string& body = "") {
    return api_.post("/v1/events/" + event + "/replay", body);
  }
  ApiAnswer cancel(const std::string& event, std::int64_t nth = 1) {
    const DeliveryRef which{*event_from(event), DeliveryNo(nth)};
    return api_.post("/v1/deliveries/" + to_text(which) + "/cancel", "");
  }
  std::vector<std::string> deliveries(const ApiAnswer& answer) {
    std::vector<std::string> ids;
    const json::value value = answer.json();
    for (const json::value& each : value.at("deliveries").as_array()) {
      ids.emplace_back(each.as_string());
    }
    return ids;
  }
  std::string delivery(const std::string& event, std::int64_t nth) {
    return to_text(DeliveryRef{*event_from(event), DeliveryNo(nth)});
  }
  json::value ended(const std::string& replay) { return ended_replay(api_, replay); }
  std::string begin(const std::string& body, std::int64_t matched) {
    const ApiAnswer answer = api_.post("/v1/replay", body);
    EXPECT_EQ(answer.status, 202) << answer.body;
    EXPECT_EQ(answer.json().at("matched").as_int64(), matched);
    return std::string(answer.json().at("replay").as_string());
  }
  void sweep() {
    const store::Periods periods{source_no(api_, "demo"), hours(1), hours(1)};
    for (bool done = false; !done;) {
      done = api_.driver().queue->sweep({.periods = std::span(&periods, 1)}).value().done;
    }
  }

  Api api_{GetParam()};
};

TEST_P(ReplayApi, DeadDeliveriesAreReplayedUnderTheSameId) {
  const std::string event = make("a");
  EXPECT_EQ(settle_next(Dead{}), "a");
  const ApiAnswer answer = replay(event);
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(deliveries(answer), ElementsAre(delivery(event, 1)));
  EXPECT_EQ(states(event), "pending");
  EXPECT_EQ(settle_next(Ack{}), "a");
}

TEST_P(ReplayApi, CompletedDeliveriesAreReplayedOnlyAsNew) {
  const std::string event = make("a");
  settle_next(Ack{});
  const ApiAnswer same = replay(event);
  EXPECT_EQ(same.status, 409);
  EXPECT_EQ(same.problem(), "not-replayable");
  EXPECT_THAT(same.detail(), HasSubstr("new"));
  const ApiAnswer fresh = replay(event, R"({"as":"new"})");
  EXPECT_THAT(deliveries(fresh), ElementsAre(delivery(event, 2)));
  EXPECT_EQ(states(event), "completed pending");
}

TEST_P(ReplayApi, OpenDeliveriesAreNotReplayed) {
  const std::string event = make("a");
  EXPECT_EQ(replay(event).problem(), "not-replayable");
  EXPECT_EQ(replay(event, R"({"as":"new"})").problem(), "not-replayable");
}

TEST_P(ReplayApi, AReplayCanBeLimitedToOneDestination) {
  const std::string event = make("a", "", {"work", "other"});
  settle_next(Dead{});
  EXPECT_EQ(cancel(event, 2).status, 200);
  EXPECT_EQ(replay(event, R"({"destination":"nobody"})").problem(), "not-found");
  EXPECT_THAT(deliveries(replay(event, R"({"destination":"other"})")),
              ElementsAre(delivery(event, 2)));
  EXPECT_EQ(states(event), "dead pending");
}

TEST_P(ReplayApi, PastItsHorizonADuplicateMustBeAccepted) {
  const std::string event = make("a");
  settle_next(RetryIn{seconds(1)}, hours(24));
  api_.clock().advance(hours(25));
  EXPECT_EQ(settle_next(Ack{}, hours(24)), "") << "dead because its horizon has passed";
  EXPECT_EQ(states(event), "dead");
  const ApiAnswer refused = replay(event);
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(refused.problem(), "past-horizon");
  EXPECT_EQ(replay(event, R"({"accept_duplicate":true})").status, 200);
  EXPECT_EQ(settle_next(Ack{}, hours(24)), "a");
}

TEST_P(ReplayApi, RemovedEventsAreGoneAndUnknownEventsAreNotFound) {
  const std::string event = make("a");
  settle_next(Ack{});
  api_.clock().advance(hours(48));
  sweep();
  EXPECT_EQ(replay(event, R"({"as":"new"})").status, 410);
  EXPECT_EQ(replay(event).problem(), "body-gone");
  EXPECT_EQ(cancel(event).problem(), "body-gone");
  const std::string never = to_text(EventNo(std::numeric_limits<std::int64_t>::max() / 2));
  EXPECT_EQ(replay(never).problem(), "not-found");
  EXPECT_EQ(cancel(never).problem(), "not-found");
  EXPECT_EQ(replay("nonsense").problem(), "not-found");
  EXPECT_EQ(api_.post("/v1/deliveries/nonsense/cancel", "").problem(), "not-found");
}

TEST_P(ReplayApi, AReplayedHeadUnblocksItsLane) {
  const std::string first = make("a", "k");
  const std::string second = make("b", "k");
  settle_next(Dead{EndReason::exhausted, OnDead::block});
  EXPECT_EQ(settle_next(Ack{}), "") << "the lane is blocked until an operator acts";
  EXPECT_EQ(replay(first).status, 200);
  EXPECT_EQ(settle_next(Ack{}), "a");
  EXPECT_EQ(settle_next(Ack{}), "b");
}

TEST_P(ReplayApi, PendingLeasedAndDeadAreCancelledAndTheLaneContinues) {
  const std::string first = make("a", "k");
  const std::string second = make("b", "k");
  EXPECT_EQ(cancel(first).status, 200);
  EXPECT_EQ(cancel(first).status, 200) << "cancelling is idempotent";
  EXPECT_EQ(states(first), "cancelled");
  EXPECT_EQ(settle_next(Dead{EndReason::exhausted, OnDead::block}), "b");
  EXPECT_EQ(cancel(second).status, 200);
  const std::string third = make("c", "k");
  const store::LeaseRequest request{
      .from = destination_no(api_, "work"), .lease = seconds(30), .holder = {}};
  const store::Answers leased = api_.driver().queue->write({.lease = std::span(&request, 1)});
  ASSERT_EQ(leased.lease->at(0).deliveries.size(), 1U);
  const store::Leased& held = leased.lease->at(0).deliveries.at(0);
  EXPECT_EQ(held.event.id, "c");
  EXPECT_EQ(cancel(third).status, 200);
  const store::Settlement late{{held.event.no, held.delivery}, held.fence, Ack{}};
  EXPECT_EQ(api_.driver().queue->write({.settle = std::span(&late, 1)}).settle->at(0),
            store::Settled::stale);
  const std::string fourth = make("d");
  EXPECT_EQ(settle_next(Ack{}), "d");
  const ApiAnswer refused = cancel(fourth);
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(refused.problem(), "not-cancellable");
}

TEST_P(ReplayApi, BadRequestsNameARemedy) {
  const std::string event = make("a");
  for (const char* body : {"[]", "{", R"({"as":"other"})", R"({"as":1})", R"({"to":"x"})",
                           R"({"accept_duplicate":"yes"})", R"({"destination":7})"}) {
    const ApiAnswer answer = replay(event, body);
    EXPECT_EQ(answer.status, 400) << body;
    EXPECT_THAT(answer.detail(), HasSubstr("write {")) << body;
  }
  for (const char* body :
       {"", "{}", R"({"filter":[]})", R"({"filter":{"status":"odd"}})", R"({"filter":{"x":1}})",
        R"({"filter":{"since":"yesterday"}})", R"({"filter":{},"rate":0})",
        R"({"filter":{},"rate":100001})", R"({"filter":{},"dry_run":1})"}) {
    EXPECT_EQ(api_.post("/v1/replay", body).status, 400) << body;
  }
  EXPECT_EQ(api_.get("/v1/replays/p0000000000000000").problem(), "not-found");
  EXPECT_EQ(api_.ask("DELETE", "/v1/replays/nonsense", "").problem(), "not-found");
  EXPECT_EQ(api_.post("/v1/replay", R"({"filter":{},"destination":"nobody"})").status, 404);
}

// A client with an unset variable must not replay everything to all destinations.
TEST_P(ReplayApi, NullIsNotEverything) {
  const std::string event = make("a");
  EXPECT_EQ(settle_next(Dead{}), "a");
  for (const char* body :
       {R"({"as":null})", R"({"destination":null})", R"({"accept_duplicate":null})"}) {
    const ApiAnswer answer = replay(event, body);
    EXPECT_EQ(answer.status, 400) << body;
    EXPECT_THAT(answer.detail(), HasSubstr("must not be null; omit it")) << body;
  }
  for (const char* body :
       {R"({"filter":null})", R"({"filter":{"source":null}})", R"({"filter":{"status":null}})",
        R"({"filter":{},"dry_run":null})", R"({"filter":{},"destination":null})",
        R"({"filter":{},"as":null})", R"({"filter":{},"rate":null})",
        R"({"filter":{},"accept_duplicate":null})"}) {
    EXPECT_EQ(api_.post("/v1/replay", body).status, 400) << body;
  }
  EXPECT_EQ(states(event), "dead");
  for (const char* body : {R"({"name":"dev","sources":null})", R"({"name":null})"}) {
    const ApiAnswer answer = api_.post("/v1/listen", body);
    EXPECT_EQ(answer.status, 400) << body;
    EXPECT_EQ(answer.problem(), "bad-request") << body;
  }
}

TEST_P(ReplayApi, ABulkReplayCountsAndThenReplays) {
  std::vector<Sample> samples;
  for (int i = 0; i < 20; ++i) {
    samples.push_back({.id = std::to_string(i), .destinations = {"work"}});
  }
  const std::vector<std::string> events = admit(api_, samples);
  for (int i = 0; i < 12; ++i) settle_next(Dead{});
  settle_next(Ack{});
  const std::string dead = R"("filter":{"source":"demo","status":"dead"})";
  const ApiAnswer dry = api_.post("/v1/replay", "{" + dead + ",\"dry_run\":true}");
  EXPECT_EQ(dry.status, 200);
  EXPECT_EQ(dry.json(), json::parse(R"({"matched":12})"));
  EXPECT_EQ(states(events[0]), "dead");
  const json::value job = ended(begin("{" + dead + ",\"rate\":1000}", 12));
  EXPECT_EQ(job.at("state").as_string(), "done");
  EXPECT_EQ(job.at("events").as_int64(), 12);
  EXPECT_EQ(job.at("replayed").as_int64(), 12);
  EXPECT_EQ(job.at("rate").as_int64(), 1000);
  EXPECT_FALSE(job.at("ended_at").is_null());
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(states(events[static_cast<std::size_t>(i)]), i == 12 ? "completed" : "pending");
  EXPECT_EQ(api_.get("/v1/replays").json().at("replays").as_array().size(), 1U);
}

TEST_P(ReplayApi, ABulkReplayWithoutMatchesIsDoneAtOnce) {
  EXPECT_EQ(ended(begin(R"({"filter":{"source":"nobody"}})", 0)).at("state").as_string(), "done");
  EXPECT_EQ(ended(begin(R"({"filter":{}})", 0)).at("state").as_string(), "done");
  const std::string event = make("a");
  settle_next(Ack{});
  const json::value job = ended(begin(R"({"filter":{"id":"a"}})", 1));
  EXPECT_EQ(job.at("replayed").as_int64(), 0) << "completed deliveries are replayed only as new";
  EXPECT_EQ(job.at("filter"), json::parse(R"({"id":"a"})"));
  const json::value fresh = ended(begin(R"({"filter":{"id":"a"},"as":"new"})", 1));
  EXPECT_EQ(fresh.at("replayed").as_int64(), 1);
  EXPECT_EQ(fresh.at("as").as_string(), "new");
  EXPECT_EQ(states(event), "completed pending");
}

TEST_P(ReplayApi, ACancelledBulkReplayStaysCancelled) {
  std::vector<Sample> samples;
  for (int i = 0; i < 50; ++i) {
    samples.push_back({.id = std::to_string(i), .destinations = {"work"}});
  }
  const std::vector<std::string> events = admit(api_, samples);
  for (int i = 0; i < 50; ++i) settle_next(Dead{});
  const std::string replay = begin(R"({"filter":{"status":"dead"},"rate":1})", 50);
  // The clock does not advance, so the replay runs its first step and no second one.
  ASSERT_TRUE(eventually(
      [&] { return api_.get("/v1/replays/" + replay).json().at("replayed").as_int64() > 0; }));
  const ApiAnswer cancelled = api_.ask("DELETE", "/v1/replays/" + replay, "");
  EXPECT_EQ(cancelled.status, 200);
  EXPECT_EQ(cancelled.json().at("state").as_string(), "cancelled");
  const ApiAnswer again = api_.ask("DELETE", "/v1/replays/" + replay, "");
  EXPECT_EQ(again.json(), cancelled.json());
  EXPECT_EQ(states(events[0]), "pending") << "replayed deliveries stay replayed";
  EXPECT_EQ(states(events[1]), "dead");
  EXPECT_EQ(states(events[49]), "dead");
}

TEST_P(ReplayApi, OnlyTheLastHundredAreKept) {
  make("a");
  settle_next(Dead{});
  make("b");
  for (int i = 0; i < 200; ++i) {
    const ApiAnswer answer = api_.post("/v1/replay", R"({"filter":{"id":"none"}})");
    ASSERT_EQ(answer.status, 202) << i << answer.body;
  }
  EXPECT_EQ(api_.get("/v1/replays").json().at("replays").as_array().size(), 100U);
}

INSTANTIATE_TEST_SUITE_P(Stores, ReplayApi, testing::Values(StoreKind::memory),
                         [](const auto& store) {
                           return store.param == StoreKind::memory ? "Memory" : "Sqlite";
                         });

}  // namespace

}  // namespace hapax::test
