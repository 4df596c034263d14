// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "compliance/inbox_suite.hpp"

#include <algorithm>
#include <barrier>
#include <thread>

namespace hapax::test {

namespace {

// Unwraps a result that must be a value.
template <class T>
T must(Result<T> result, const char* what) {
  if (result) return std::move(result).value();
  ADD_FAILURE() << what << ": " << result.error().to_string();
  return T();
}

struct InboxGroup {
  std::string_view name;
  std::span<const InboxCase> (*cases)();
};

constexpr InboxGroup kInboxGroups[] = {
    {"Admit", admit_cases},         {"Lease", lease_cases},      {"Settle", settle_cases},
    {"Lanes", lane_cases},          {"Versions", version_cases}, {"Replay", replay_cases},
    {"Retention", retention_cases}, {"Reading", reading_cases},  {"Rejects", reject_cases},
    {"Records", record_cases},      {"Outbox", outbox_cases},    {"BadInput", bad_input_cases},
};

class CaseTest : public testing::Test {
 public:
  CaseTest(const InboxCase& which, MakeInbox make, bool restarting)
      : case_(which), make_(std::move(make)), restarting_(restarting) {}

  void TestBody() override {
    InboxSteps steps(make_(), restarting_);
    case_.body(steps);
  }

 private:
  const InboxCase& case_;
  MakeInbox make_;
  bool restarting_;
};

void add(const std::string& suite, const std::string& name, const InboxCase& which,
         const MakeInbox& make, bool restarting) {
  testing::RegisterTest(suite.c_str(), name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                        [&which, make, restarting]() -> testing::Test* {
                          return new CaseTest(which, make, restarting);
                        });
}

}  // namespace

InboxSteps::InboxSteps(std::unique_ptr<InboxSubject> subject, bool restarting)
    : subject_(std::move(subject)), restarting_(restarting) {}
InboxSteps::~InboxSteps() = default;

const Driver& InboxSteps::next() {
  if (restarting_) subject_->restart();
  return subject_->driver();
}

SourceNo InboxSteps::source(const std::string& name) {
  SourceNo& number = sources_[name];
  if (number == SourceNo()) {
    number = SourceNo(must(same().catalog->number_of(NameKind::source, name), "number_of"));
  }
  return number;
}

DestinationNo InboxSteps::destination(const std::string& name) {
  DestinationNo& number = destinations_[name];
  if (number == DestinationNo()) {
    number =
        DestinationNo(must(same().catalog->number_of(NameKind::destination, name), "number_of"));
  }
  return number;
}

EventNo InboxSteps::new_number() {
  return EventNo(++last_number_);
}

std::vector<AdmitAnswer> InboxSteps::admit_batch(const std::vector<std::vector<Incoming>>& requests,
                                                 Would would, bool guard) {
  std::vector<std::vector<std::vector<Target>>> targets(requests.size());
  std::vector<std::vector<Arrival>> arrivals(requests.size());
  std::vector<Admit> admits;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    targets[i].resize(requests[i].size());
    for (std::size_t j = 0; j < requests[i].size(); ++j) {
      const Incoming& each = requests[i][j];
      for (const std::string& to : each.to) targets[i][j].push_back({destination(to)});
      for (const std::string& to : each.listen) targets[i][j].push_back({destination(to), true});
      arrivals[i].push_back({.no = each.no == EventNo() ? new_number() : each.no,
                             .source = source(each.source),
                             .tenant = each.tenant,
                             .key = each.keyless ? std::string_view() : each.id,
                             .id = each.id,
                             .type = each.type,
                             .order_key = each.order_key,
                             .version = each.version,
                             .digest = sha256(each.body),
                             .headers = each.headers,
                             .body = each.body,
                             .remember = each.remember,
                             .targets = targets[i][j]});
    }
    admits.push_back({arrivals[i], would, guard});
    const Result<void> checked = check(admits.back());
    if (!checked) return {AdmitAnswer(checked.error())};
  }
  std::vector<AdmitAnswer> answers = next().queue->write({.admit = admits}).admit;
  EXPECT_EQ(answers.size(), requests.size());
  return answers;
}

AdmitAnswer InboxSteps::admit_together(const std::vector<Incoming>& arrivals, Would would,
                                       bool guard) {
  return admit_batch({arrivals}, would, guard).at(0);
}

Admission InboxSteps::admit(const Incoming& arrival, Would would, bool guard) {
  const std::vector<Admission> answers = must(admit_together({arrival}, would, guard), "admit");
  if (answers.size() == 1) return answers.front();
  ADD_FAILURE() << "not one answer to one arrival";
  return {};
}

EventNo InboxSteps::fresh(const Incoming& arrival) {
  const Admission answer = admit(arrival);
  EXPECT_EQ(answer.kind, Admission::Kind::fresh) << arrival.id;
  return answer.event;
}

std::vector<EventNo> InboxSteps::fresh_many(int count, Incoming arrival) {
  std::vector<EventNo> events;
  for (int i = 0; i < count; ++i) {
    arrival.id = std::to_string(i);
    events.push_back(fresh(arrival));
  }
  return events;
}

Lease InboxSteps::lease(const std::string& destination_name, const LeaseHow& how) {
  const LeaseRequest request{destination(destination_name),
                             how.max,
                             how.lease,
                             how.holder,
                             how.max_abandons,
                             how.horizon,
                             how.on_dead};
  EXPECT_TRUE(check(request));
  std::vector<Lease> answers =
      must(next().queue->write({.lease = std::span(&request, 1)}).lease, "lease");
  if (answers.size() == 1) return std::move(answers.front());
  ADD_FAILURE() << "not one answer to one request";
  return {};
}

std::vector<Leased> InboxSteps::leased(const std::string& destination_name, const LeaseHow& how) {
  return lease(destination_name, how).deliveries;
}

Leased InboxSteps::lease_one(const std::string& destination_name, const LeaseHow& how) {
  std::vector<Leased> found = leased(destination_name, how);
  if (found.size() == 1) return std::move(found.front());
  ADD_FAILURE() << found.size() << " leased instead of one";
  return {};
}

bool InboxSteps::nothing_due(const std::string& destination_name) {
  return leased(destination_name, {.max = 10}).empty();
}

std::vector<Leased> InboxSteps::lease_all(const std::string& destination_name, LeaseHow how) {
  std::vector<Leased> all;
  for (int calls = 0; calls < 10'000; ++calls) {
    Lease part = lease(destination_name, how);
    for (Leased& each : part.deliveries) all.push_back(std::move(each));
    if (part.deliveries.empty() && part.passed == 0) return all;
  }
  ADD_FAILURE() << "leasing never finishes";
  return all;
}

Settled InboxSteps::settle(const Leased& lease, const Disposition& disposition,
                           const AttemptNote& note) {
  return settle(ref(lease), lease.fence, disposition, note);
}

Settled InboxSteps::settle(const DeliveryRef& which, Fence fence, const Disposition& disposition,
                           const AttemptNote& note) {
  const Settlement settlement{which, fence, disposition, note};
  EXPECT_TRUE(check(settlement));
  const std::vector<Settled> answers =
      must(next().queue->write({.settle = std::span(&settlement, 1)}).settle, "settle");
  if (answers.size() == 1) return answers.front();
  ADD_FAILURE() << "not one answer to one settlement";
  return Settled::unknown;
}

void InboxSteps::ack(const Leased& lease) {
  EXPECT_EQ(settle(lease, Ack{}), Settled::ok);
}

void InboxSteps::deliver(const std::string& destination_name) {
  ack(lease_one(destination_name));
}

void InboxSteps::kill(const Leased& lease, OnDead on_dead) {
  EXPECT_EQ(settle(lease, Dead{EndReason::exhausted, on_dead}), Settled::ok);
}

EventDetail InboxSteps::detail(EventNo event) {
  Lookup<EventDetail> found = must(next().catalog->event(event), "event");
  EXPECT_EQ(found.presence, Presence::here) << event.value();
  return found.value ? std::move(*found.value) : EventDetail{};
}

DeliveryRow InboxSteps::row(EventNo event, std::int64_t delivery) {
  for (DeliveryRow& each : detail(event).deliveries) {
    if (each.no == DeliveryNo(delivery)) return each;
  }
  ADD_FAILURE() << "the event has no delivery " << delivery;
  return {};
}

Presence InboxSteps::presence(EventNo event) {
  const Presence presence = must(next().catalog->event(event), "event").presence;
  EXPECT_EQ(must(same().catalog->body(event, BodyOf::event), "body").presence, presence);
  return presence;
}

std::vector<EventRow> InboxSteps::list(const EventFilter& filter, std::size_t page) {
  std::vector<EventRow> all;
  EventQuery query{filter, kNewest, page};
  EXPECT_TRUE(check(query));
  for (int pages = 0; pages < 10'000; ++pages) {
    const EventPage found = must(next().catalog->events(query), "events");
    EXPECT_LE(found.events.size(), page);
    all.insert(all.end(), found.events.begin(), found.events.end());
    if (!found.next) return all;
    query.before = *found.next;
  }
  ADD_FAILURE() << "the pages never end";
  return all;
}

Cancelled InboxSteps::cancel(EventNo event, std::int64_t delivery) {
  return must(next().queue->cancel({event, DeliveryNo(delivery)}), "cancel");
}

Replayed InboxSteps::replay(const Replay& what) {
  return must(next().queue->replay(what), "replay");
}

std::size_t InboxSteps::sweep(milliseconds keep, milliseconds keep_dead, std::size_t limit) {
  std::vector<Periods> periods;
  for (const auto& [name, number] : sources_) periods.push_back({number, keep, keep_dead});
  const SweepStep step{periods, limit};
  EXPECT_TRUE(check(step));
  std::size_t gone = 0;
  for (int steps = 0; steps < 10'000; ++steps) {
    const Swept swept = must(next().queue->sweep(step), "sweep");
    gone += swept.events;
    if (swept.done) return gone;
  }
  ADD_FAILURE() << "the sweep never finishes";
  return gone;
}

DeliveryRef ref(const Leased& lease) {
  return {lease.event.no, lease.delivery};
}

std::string ids(const std::vector<Leased>& leases) {
  std::string text;
  for (const Leased& each : leases) text += (text.empty() ? "" : " ") + each.event.id;
  return text;
}

void all_at_once(int threads, const std::function<void(int)>& work) {
  std::barrier start(threads);
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&, i] {
      start.arrive_and_wait();
      work(i);
    });
  }
  for (std::thread& each : running) each.join();
}

void add_inbox_suite(const InboxSuite& suite) {
  const std::vector<std::string_view>& wanted = suite.groups;
  for (const InboxGroup& group : kInboxGroups) {
    if (!wanted.empty() && std::ranges::find(wanted, group.name) == wanted.end()) continue;
    const std::string name = suite.name + std::string(group.name);
    for (const InboxCase& each : group.cases()) {
      add(name, each.name, each, suite.make, false);
      if (!suite.restarts || !each.has_steps) continue;
      add(name, std::string(each.name) + "AcrossRestarts", each, suite.make, true);
    }
  }
}

}  // namespace hapax::test
