// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "compliance/inbox_scenes.hpp"

#include "compliance/inbox_subjects.hpp"

namespace hapax::test {

namespace {

constexpr int kRoundsMax = 100;

template <class... Arrivals>
WriteOp admit(const Arrivals&... arrivals) {
  return {.settle = {}, .admit = {{.arrivals = {arrivals...}}}, .lease = {}};
}

WriteOp lease(const std::string& from, Holder holder = {Holder::Kind::push, 1}) {
  return {.settle = {}, .admit = {}, .lease = {{from, {.max = 100, .holder = holder}}}};
}

SettleOp with(std::size_t lease, const Disposition& disposition) {
  return {.lease = lease, .disposition = disposition, .status = 500};
}

template <class... Settles>
WriteOp settle(const Settles&... settles) {
  return {.settle = {settles...}, .admit = {}, .lease = {}};
}

Incoming event(std::int64_t no, const std::string& id, std::vector<std::string> to,
               const std::string& order_key = "") {
  return {.id = id,
          .source = "x",
          .tenant = "t",
          .body = "body of " + id + std::string(300, '.'),
          .order_key = order_key,
          .to = std::move(to),
          .headers = "some headers",
          .no = EventNo(no)};
}

Incoming versioned(Incoming event, std::int64_t version) {
  event.version = version;
  return event;
}

MessageOp message(unsigned char no, const std::string& key, const std::string& order_key) {
  MessageId id;
  id.bytes.fill(no);
  return {id, "one", key, order_key, "payload " + std::to_string(no)};
}

ReplayOp replay(std::int64_t event, ReplayAs as, std::int64_t no,
                std::optional<DeliveryNo> delivery = {}) {
  return {{.event = EventNo(event), .delivery = delivery, .how = {.as = as, .no = ReplayNo(no)}},
          ""};
}

CancelOp cancel(std::int64_t event, std::int64_t delivery = 1) {
  return {{EventNo(event), DeliveryNo(delivery)}};
}

Scene split_requests() {
  Incoming keyless = event(20, "no id", {"one"});
  keyless.keyless = true;
  Incoming listened = event(11, "a", {"one", "two"}, "lane");
  listened.listen = {"dev"};
  WriteOp three = admit(event(21, "three-a", {"two"}, "lane"));
  three.admit.push_back({.arrivals = {event(10, "taken", {"one"})}});  // a used number
  three.admit.push_back({.arrivals = {event(22, "three-c", {"two"}), event(23, "three-d", {})}});
  const WriteOp observed{
      .settle = {},
      .admit = {{.arrivals = {event(24, "a", {"one"}, "lane")}, .would = Would::duplicate}},
      .lease = {}};
  return {.name = "SplitRequests",
          .before = {admit(event(10, "first", {"one"}, "lane"))},
          .acts = {admit(listened, versioned(event(12, "b", {"one", "two"}, "lane"), 2),
                         event(13, "c", {"two"}, "other"), event(14, "d", {"three"})),
                   admit(keyless), three, observed}};
}

Scene duplicates() {
  Incoming changed = event(31, "a", {"one"});
  changed.body = "changed";
  Incoming old = event(12, "old", {});
  old.remember = seconds(1);
  return {.name = "DuplicatesAndChanged",
          .before = {admit(event(10, "a", {"one"}), event(11, "b", {"one"})), admit(old),
                     PassOp{.by = seconds(2)}},
          .acts = {admit(event(30, "a", {"one"})), admit(changed),
                   admit(event(32, "new", {"one"}, "lane"), event(33, "new", {"one"}, "lane"),
                         event(34, "b", {"two"})),
                   admit(event(35, "old", {"two"}))}};
}

// Enough ids that SQLite merges some into its index during the scene, in several passes (ADR 13),
// of which one is rolled back with its transaction.
Scene many_ids() {
  const auto id = [](int n) { return "id-" + std::to_string(n * 37 % 101); };
  const auto fresh = [&](int n) { return event(100 + n, id(n), {}); };
  Scene scene{.name = "ManyIds", .before = {}, .acts = {}};
  Incoming old = event(99, "old", {});
  old.remember = seconds(1);
  scene.before.emplace_back(admit(old));
  for (int n = 0; n < 18; n += 2) scene.before.emplace_back(admit(fresh(n), fresh(n + 1)));
  scene.before.emplace_back(PassOp{.by = seconds(2)});
  for (int n = 20; n < 35; n += 5) {
    scene.acts.emplace_back(admit(fresh(n), fresh(n + 1), event(200 + n, id(n - 19), {})));
    WriteOp with_a_taken_number = admit(fresh(n + 2), fresh(n + 3));
    with_a_taken_number.admit.push_back({.arrivals = {event(100, "taken", {})}});
    scene.acts.emplace_back(with_a_taken_number);
  }
  scene.acts.emplace_back(admit(event(300, "old", {}), event(301, "old", {}), fresh(40)));
  WriteOp all_again;
  for (int n = 0; n < 18; ++n) all_again.admit.push_back({.arrivals = {event(400 + n, id(n), {})}});
  scene.acts.emplace_back(all_again);
  return scene;
}

Scene settlements() {
  return {.name = "Settlements",
          .before = {admit(event(10, "a", {"one"}, "k"), versioned(event(11, "b", {"one"}, "k"), 5),
                           versioned(event(12, "c", {"one"}, "k"), 4), event(13, "d", {"one"}, "l"),
                           event(14, "e", {"one"}, "l")),
                     admit(event(15, "f", {"one"}, "m"), event(16, "g", {"one"}, "m")),
                     admit(event(17, "h", {"one"}, "n"), event(18, "i", {"one"}, "n")),
                     admit(event(19, "j", {"one"}), event(20, "k", {"one"}),
                           event(21, "l", {"one"}), event(22, "m", {"one"})),
                     lease("one")},
          .acts = {settle(with(0, Ack{})), settle(with(1, Drop{})),
                   settle(with(2, Dead{EndReason::exhausted, OnDead::skip})),
                   settle(with(3, Dead{EndReason::gone, OnDead::block})),
                   settle(with(4, RetryIn{minutes(1)})), settle(with(5, Renew{minutes(5)})),
                   settle(with(6, Release{.sent = false}), with(7, Ack{})),
                   settle(with(0, Drop{}), with(5, Ack{}))}};
}

Scene cancels() {
  return {.name = "Cancels",
          .before = {admit(event(10, "a", {"one"}, "k"), event(11, "b", {"one"}, "k"),
                           event(12, "c", {"one"}, "k"), event(13, "d", {"one"}, "l"),
                           event(14, "e", {"one"}, "l")),
                     lease("one"), settle(with(1, Dead{EndReason::exhausted, OnDead::block}))},
          .acts = {cancel(10), settle(with(0, Ack{})), cancel(12), cancel(13), cancel(14)}};
}

Scene replays() {
  const ReplayManyOp many{.how = {.as = ReplayAs::as_new, .no = ReplayNo(9)},
                          .status = DeliveryState::completed,
                          .source = "x",
                          .limit = 100};
  return {.name = "Replays",
          .before = {admit(event(10, "a", {"one", "two"}, "k"), event(11, "b", {"one"}, "k"),
                           event(12, "c", {"one"}), event(13, "d", {"one"}),
                           event(14, "e", {"one"}, "l"), event(15, "f", {"one"}, "l")),
                     lease("one"), lease("two"),
                     settle(with(0, Dead{}), with(1, Ack{}), with(2, Drop{}),
                            with(3, Dead{EndReason::gone, OnDead::block}), with(4, Ack{}))},
          .acts = {replay(10, ReplayAs::same, 7), replay(10, ReplayAs::as_new, 8),
                   replay(13, ReplayAs::same, 0), replay(14, ReplayAs::same, 0), many,
                   PassOp{.by = seconds(1)}, replay(12, ReplayAs::as_new, 0, DeliveryNo(1))}};
}

Scene retention(const char* name, std::size_t limit) {
  Incoming shorter = event(10, "a", {"one"}, "k");
  shorter.remember = hours(1);
  Incoming archived = event(12, "c", {});
  archived.remember = hours(1);
  return {.name = name,
          .before = {admit(shorter, versioned(event(11, "b", {"one"}, "k"), 3), archived),
                     admit(event(13, "d", {"one"}), event(14, "e", {"one"}, "l")), lease("one"),
                     settle(with(0, Ack{}), with(1, Ack{}), with(2, Dead{})), lease("one"),
                     settle(with(3, RetryIn{hours(1)})), NoteOp{EventNo(10), 2, "changed"},
                     PassOp{.by = 3 * days}},
          .acts = {SweepOp{hours(24), 10 * days, limit}, admit(event(31, "a", {"one"}, "k")),
                   admit(event(32, "c", {"one"})), replay(10, ReplayAs::as_new, 5),
                   PassOp{.by = 10 * days}, SweepOp{hours(24), 10 * days, limit}},
          .watched = {EventNo(10), EventNo(11), EventNo(12), EventNo(13), EventNo(14)}};
}

Scene messages() {
  return {.name = "Messages",
          .before = {message(1, "", "k"), message(2, "", "k"), message(3, "key-3", ""),
                     admit(event(10, "a", {"one"}))},
          .acts = {message(4, "key-4", "k"), message(5, "key-3", ""),
                   MoveOp{{EventNo(30), EventNo(31)}}, MoveOp{{EventNo(32), EventNo(33)}},
                   MoveOp{{EventNo(34)}}, MoveOp{{EventNo(10)}}},
          .watched = {EventNo(30), EventNo(31), EventNo(32), EventNo(33), EventNo(34)}};
}

Scene the_rest() {
  return {.name = "TheRest",
          .before = {admit(event(10, "a", {"one", "two"}, "k"), event(11, "b", {"one"}, "k")),
                     lease("one"), lease("two", kPull)},
          .acts = {ReleaseOp{{}}, PauseOp{"two", true}, RejectOp{RejectNo(50), "x", false},
                   RejectOp{RejectNo(50), "x", true},
                   NodeOp{.owner = 3, .leave = false, .lease = hours(1)}, PauseOp{"two", false}}};
}

// Omits the times at which sources were last seen, which may differ slightly.
std::string play(Side& side, const Operation& act) {
  return side.apply(act).text;
}

}  // namespace

const std::vector<Scene>& inbox_scenes() {
  static const std::vector<Scene> all{split_requests(),
                                      duplicates(),
                                      many_ids(),
                                      settlements(),
                                      cancels(),
                                      replays(),
                                      retention("Retention", 1000),
                                      messages(),
                                      the_rest()};
  return all;
}

std::string state_of(Side& side, const Scene& scene) {
  std::string state = side.everything().text;
  for (const EventNo each : scene.watched) {
    state += play(side, ReadOp{.event = each, .source = "x", .id = "a", .status = {}, .page = 50});
  }
  return state;
}

std::string drain(Side& side, const Scene& scene) {
  std::string all = play(side, PassOp{.by = hours(1), .jump = {}});
  for (int round = 0; round < kRoundsMax; ++round) {
    const std::size_t before = side.known().leases.size();
    for (const std::string& each : OperationSource::destinations()) {
      all += play(side, lease(each));
    }
    WriteOp acks;
    for (std::size_t i = before; i < side.known().leases.size(); ++i) {
      acks.settle.push_back(with(i, Ack{}));
    }
    if (acks.settle.empty()) return all + state_of(side, scene);
    all += play(side, acks);
  }
  return all + "the queue never empties";
}

Script script_of(const Scene& scene) {
  Script script;
  for (std::size_t count = 0; count <= scene.acts.size(); ++count) {
    MemoryInbox inbox;
    Side side(inbox);
    for (const Operation& each : scene.before) play(side, each);
    std::vector<std::string> answers;
    for (std::size_t i = 0; i < count; ++i) answers.push_back(play(side, scene.acts[i]));
    script.answers = std::move(answers);
    script.states.push_back(state_of(side, scene));
    script.ends.push_back(drain(side, scene));
  }
  return script;
}

AnswerMatch compare_answer(const std::string& answer, const std::string& right) {
  if (answer == right) return AnswerMatch::expected;
  if (answer.find("error ") == std::string::npos) return AnswerMatch::different;
  const std::string unknown = "error " + std::string(info(Code::outcome_unknown).name);
  return answer.find(unknown) == std::string::npos ? AnswerMatch::did_not_happen
                                                   : AnswerMatch::unknown;
}

bool reports_counts(const Operation& act) {
  return std::holds_alternative<SweepOp>(act) || std::holds_alternative<ReplayManyOp>(act) ||
         std::holds_alternative<ReleaseOp>(act) || std::holds_alternative<RejectOp>(act);
}

bool has_parts(const Operation& act) {
  const auto* write = std::get_if<WriteOp>(&act);
  return write != nullptr && write->admit.size() > 1;
}

bool lacks_replay_number(const Operation& act) {
  const auto* replay = std::get_if<ReplayOp>(&act);
  return replay != nullptr && replay->what.how.no == ReplayNo();
}

void expect_finishes(Side& side, const Scene& scene, const Script& script,
                     const Progress& progress) {
  const std::size_t certain = progress.certain;
  const std::string state = state_of(side, scene);
  const bool one_more = progress.maybe_one_more && state == script.states[certain + 1];
  if (!one_more && !progress.maybe_partly) {
    ASSERT_EQ(state, script.states[certain])
        << (progress.maybe_one_more ? "or one operation later" : "");
  }
  for (std::size_t i = certain; i < scene.acts.size(); ++i) {
    const bool again = one_more && i == certain;
    if (again && lacks_replay_number(scene.acts[i])) continue;
    const std::string answer = play(side, scene.acts[i]);
    if (again && reports_counts(scene.acts[i])) continue;
    ASSERT_EQ(answer, script.answers[i]) << describe(scene.acts[i]);
  }
  ASSERT_EQ(state_of(side, scene), script.states.back());
}

void expect_continues(Side& side, const Scene& scene, const Script& script,
                      const Progress& progress) {
  expect_finishes(side, scene, script, progress);
  if (testing::Test::HasFailure()) return;
  EXPECT_EQ(drain(side, scene), script.ends.back());
}

}  // namespace hapax::test
