// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "gateway/readmit.hpp"

#include "base/try.hpp"
#include "gateway/answer.hpp"
#include "gateway/redact.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <deque>

namespace hapax::gateway {

namespace {

constexpr std::size_t kAtOnce = 64;  // that share transactions
constexpr std::size_t kBytesAtOnce = std::size_t{16} * 1024 * 1024;

bool all_known(const Taken& taken) {
  return !taken.events.empty() && std::all_of(taken.events.begin(), taken.events.end(),
                                              [](const Accepted& each) { return each.duplicate; });
}

}  // namespace

// One reject, from the store to its answer.
struct Readmission::Tried {
  store::StoredReject stored;
  std::shared_ptr<const Sources> sources;
  const Sources::Entry* entry = nullptr;
  Restored restored;
  http::Head head;
  std::string url;
  Request request;
  Occasion occasion;
  std::optional<StillInvalid> invalid;
  Received received = Error(Code::store_unavailable, "it was not tried");

  static Task<void> receive(Receiver& receiver, Tried& tried) {
    Received received =
        co_await receiver.receive(tried.entry->source, tried.request, tried.occasion);
    tried.received = std::move(received);
  }
};

std::unique_ptr<Readmission::Tried> Readmission::prepare(
    store::StoredReject stored, std::shared_ptr<const Sources> sources) const {
  auto tried = std::make_unique<Tried>();
  tried->stored = std::move(stored);
  tried->sources = std::move(sources);
  const store::StoredReject& from = tried->stored;
  http::Head& head = tried->head;
  head.method = from.method;
  head.target = from.url;
  tried->entry = find_source(*tried->sources, head.path());
  if (tried->entry == nullptr || tried->entry->source.no != from.row.source) {
    tried->invalid = {"source-unknown", "the configuration in force has no such source"};
    return tried;
  }
  const Source& source = tried->entry->source;
  std::optional<Restored> restored = restore(source, from, with_.secret);
  if (!restored) {
    tried->invalid = {"header-malformed", "its stored headers cannot be read"};
    return tried;
  }
  tried->restored = *std::move(restored);
  for (const OwnedHeader& each : tried->restored.headers) {
    head.headers.push_back({each.name, each.value});
  }
  tried->url = url_of(*tried->sources, head);
  tried->request = {head.method, tried->url, head.headers, tried->restored.body, 0};
  tried->occasion = {from.row.received, from.row.no, is_item(source, from, with_.secret)};
  return tried;
}

// Each goes the way of a request, on an event loop of our own; together, so that they share the
// store's transactions.
void Readmission::run(Group& group) {
  const std::lock_guard lock(loop_mutex_);
  Receiver receiver(with_.async_store, with_.numbers, with_.duplicates, with_.unclaimed,
                    with_.notifier, with_.clock);
  for (const auto& each : group) {
    if (each->invalid) continue;
    boost::asio::co_spawn(loop_.get_executor(), Tried::receive(receiver, *each),
                          boost::asio::detached);
  }
  loop_.restart();
  loop_.run();
  for (const auto& each : group) {
    const auto* refused = std::get_if<Refused>(&each->received);
    if (refused != nullptr) each->invalid = {std::string(name(refused->reason)), refused->detail};
    // One that can never be taken must not keep those after it from being tried.
    const auto* error = std::get_if<Error>(&each->received);
    if (error != nullptr && !error->retryable()) {
      each->invalid = {std::string(info(error->code()).name), error->detail()};
    }
  }
}

// As run(), without a change: what is known already is asked for.
Result<void> Readmission::look(Group& group) {
  Receiver receiver(with_.async_store, with_.numbers, with_.duplicates, with_.unclaimed,
                    with_.notifier, with_.clock);
  std::deque<std::variant<Identified, Refused>> all;  // what is wanted points into them
  std::vector<store::WantedIdentity> wanted;
  std::vector<Tried*> whose;
  for (const auto& each : group) {
    if (each->invalid) continue;
    const Source& source = each->entry->source;
    const auto& examined =
        all.emplace_back(receiver.examine(source, each->request, each->occasion));
    if (const auto* refused = std::get_if<Refused>(&examined)) {
      each->invalid = {std::string(name(refused->reason)), refused->detail};
      continue;
    }
    each->received = Taken();
    for (const Item& item : std::get<Identified>(examined).items) {
      const Identity& identity = item.identity;
      if (identity.key.empty()) continue;
      wanted.push_back({source.no, tenant_of(source, identity), identity.key});
      whose.push_back(each.get());
    }
  }
  HAPAX_TRY_ASSIGN(found, with_.driver.find(wanted));
  for (std::size_t at = 0; at < found.size(); ++at) {
    std::get<Taken>(whose[at]->received)
        .events.push_back(
            {.event = found[at].value_or(EventNo()), .id = {}, .duplicate = found[at].has_value()});
  }
  return {};
}

// What became an event is no reject any more. An error of the store is the step's.
Result<void> Readmission::settle(Group& group) {
  std::vector<RejectNo> gone;
  std::optional<Error> failed;
  for (const auto& each : group) {
    if (each->invalid) continue;
    if (const auto* error = std::get_if<Error>(&each->received)) {
      failed = *error;
      continue;
    }
    const auto* taken = std::get_if<Taken>(&each->received);
    if (taken == nullptr) continue;
    // Items without an id are kept by it alone. What became an event is a duplicate the next time.
    if (taken->rejected.empty()) gone.push_back(each->stored.row.no);
    with_.metrics.reject_admitted(each->entry->source.name);
    for (const Accepted& event : taken->events) {
      counter_of(*each->entry->metrics, event).Increment();
    }
  }
  // After the events are durable: what stays here by a crash is a duplicate when it is tried again.
  if (!gone.empty()) HAPAX_TRY(with_.driver.remove_rejects(gone));
  if (failed) return *failed;
  return {};
}

Result<std::variant<Readmission::Absent, Readmission::StillInvalid, Readmission::Admitted>>
Readmission::admit(RejectNo number) {
  using Answer = std::variant<Absent, StillInvalid, Admitted>;
  HAPAX_TRY_ASSIGN(stored, with_.driver.reject(number));
  if (!stored) return Answer(Absent());
  Group group;
  group.push_back(prepare(*std::move(stored), with_.sources()));
  run(group);
  const Tried& tried = *group.front();
  if (tried.invalid) return Answer(*tried.invalid);
  HAPAX_TRY(settle(group));
  const auto* taken = std::get_if<Taken>(&tried.received);
  if (taken == nullptr) return Error(Code::store_unavailable, "the request was not taken");
  return Answer(Admitted{in_json(tried.entry->source, *taken)});
}

Result<Readmission::Stepped> Readmission::admit(const Step& step) {
  HAPAX_TRY_ASSIGN(
      page,
      with_.driver.rejects(
          {.filter = step.filter, .after = step.after, .oldest_first = true, .limit = step.limit}));
  const std::shared_ptr<const Sources> sources = with_.sources();
  Stepped stepped;
  stepped.next = page.next;
  for (auto row = page.rejects.begin(); row != page.rejects.end();) {
    Group group;
    std::size_t bytes = 0;
    for (; row != page.rejects.end() && group.size() < kAtOnce && bytes < kBytesAtOnce; ++row) {
      HAPAX_TRY_ASSIGN(stored, with_.driver.reject(row->no));
      if (!stored) continue;  // made room, or somebody else admitted it
      bytes += stored->body.size();
      group.push_back(prepare(*std::move(stored), sources));
    }
    if (step.dry) {
      HAPAX_TRY(look(group));
    } else {
      run(group);
      HAPAX_TRY(settle(group));
    }
    for (const auto& each : group) {
      ++stepped.matched;
      const auto* taken = std::get_if<Taken>(&each->received);
      if (each->invalid) {
        ++stepped.still_invalid;
        ++stepped.reasons[each->invalid->reason];
      } else if (taken != nullptr) {
        ++(all_known(*taken) ? stepped.duplicates : stepped.admitted);
      }
    }
  }
  return stepped;
}

Readmission::Finding Readmission::look_at(const store::StoredReject& stored) {
  const auto tried = prepare(stored, with_.sources());
  Finding finding{tried->invalid, {}};
  if (tried->invalid) return finding;
  const Source& source = tried->entry->source;
  Receiver receiver(with_.async_store, with_.numbers, with_.duplicates, with_.unclaimed,
                    with_.notifier, with_.clock);
  const auto examined = receiver.examine(source, tried->request, tried->occasion);
  const auto* refused = std::get_if<Refused>(&examined);
  if (refused == nullptr) return finding;
  finding.invalid = {std::string(name(refused->reason)), refused->detail};
  Scratch scratch;
  const bool authentic =
      tried->occasion.item ||
      source.verifier.verify(tried->request, tried->occasion.received, scratch).authentic();
  if (authentic || !source.scheme) return finding;
  std::vector<Header> parameters;
  for (const OwnedHeader& each : source.parameters) parameters.push_back({each.name, each.value});
  finding.explanation = explain(source.scheme->scheme, source.secrets, tried->request,
                                tried->occasion.received, {source.key_id, parameters});
  return finding;
}

}  // namespace hapax::gateway
