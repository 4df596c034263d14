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

constexpr std::size_t kAtOnce = 64;  // rejects that share transactions
constexpr std::size_t kBytesAtOnce = std::size_t{16} * 1024 * 1024;

bool all_known(const Stored& accepted) {
  return !accepted.events.empty() &&
         std::all_of(accepted.events.begin(), accepted.events.end(),
                     [](const Accepted& each) { return each.duplicate; });
}

}  // namespace

// One reject during its re-admission.
struct Readmission::Candidate {
  store::StoredReject stored;
  std::shared_ptr<const Sources> sources;
  const Sources::Entry* entry = nullptr;
  Restored restored;
  http::Head head;
  std::string url;
  Request request;
  ReceiveContext context;
  std::optional<StillInvalid> invalid;
  Received received = Error(Code::store_unavailable, "not attempted");

  static Task<void> receive(Receiver& receiver, Candidate& candidate) {
    Received received =
        co_await receiver.receive(candidate.entry->source, candidate.request, candidate.context);
    candidate.received = std::move(received);
  }
};

std::unique_ptr<Readmission::Candidate> Readmission::prepare(
    store::StoredReject stored, std::shared_ptr<const Sources> sources) const {
  auto candidate = std::make_unique<Candidate>();
  candidate->stored = std::move(stored);
  candidate->sources = std::move(sources);
  const store::StoredReject& from = candidate->stored;
  http::Head& head = candidate->head;
  head.method = from.method;
  head.target = from.url;
  candidate->entry = find_source(*candidate->sources, head.path());
  if (candidate->entry == nullptr || candidate->entry->source.no != from.row.source) {
    candidate->invalid = {"source-unknown", "the source is not configured"};
    return candidate;
  }
  const Source& source = candidate->entry->source;
  std::optional<Restored> restored = restore(source, from, deps_.secret);
  if (!restored) {
    candidate->invalid = {"header-malformed", "the stored headers are malformed"};
    return candidate;
  }
  candidate->restored = *std::move(restored);
  for (const OwnedHeader& each : candidate->restored.headers) {
    head.headers.push_back({each.name, each.value});
  }
  candidate->url = url_of(source, head);
  candidate->request = {head.method, candidate->url, head.headers, candidate->restored.body, 0};
  candidate->context = {from.row.received, from.row.no, is_item(source, from, deps_.secret)};
  return candidate;
}

// Processes each reject like a request, on a private event loop; concurrently, so that they share
// the store's transactions.
void Readmission::run(Group& group) {
  const std::lock_guard lock(loop_mutex_);
  Receiver receiver(deps_.receiver);
  for (const auto& each : group) {
    if (each->invalid) continue;
    boost::asio::co_spawn(loop_.get_executor(), Candidate::receive(receiver, *each),
                          boost::asio::detached);
  }
  loop_.restart();
  loop_.run();
  for (const auto& each : group) {
    const auto* refused = std::get_if<Refused>(&each->received);
    if (refused != nullptr) each->invalid = {std::string(name(refused->reason)), refused->detail};
    // A permanent failure must not block the rejects after it.
    const auto* error = std::get_if<Error>(&each->received);
    if (error != nullptr && !error->retryable()) {
      each->invalid = {std::string(info(error->code()).name), error->detail()};
    }
  }
}

// Like run(), without side effects: looks up which events exist already.
Result<void> Readmission::dry_run(Group& group) {
  Receiver receiver(deps_.receiver);
  std::deque<std::variant<Identified, Refused>> all;  // `wanted` has views of them
  std::vector<store::WantedIdentity> wanted;
  std::vector<Candidate*> whose;
  for (const auto& each : group) {
    if (each->invalid) continue;
    const Source& source = each->entry->source;
    const auto& checked =
        all.emplace_back(receiver.authenticate_and_identify(source, each->request, each->context));
    if (const auto* refused = std::get_if<Refused>(&checked)) {
      each->invalid = {std::string(name(refused->reason)), refused->detail};
      continue;
    }
    each->received = Stored();
    for (const Item& item : std::get<Identified>(checked).items) {
      const Identity& identity = item.identity;
      if (identity.key.empty()) continue;
      wanted.push_back({source.no, tenant_of(source, identity), identity.key});
      whose.push_back(each.get());
    }
  }
  HAPAX_TRY_ASSIGN(found, deps_.catalog.find(wanted));
  for (std::size_t at = 0; at < found.size(); ++at) {
    std::get<Stored>(whose[at]->received)
        .events.push_back(
            {.event = found[at].value_or(EventNo()), .id = {}, .duplicate = found[at].has_value()});
  }
  return {};
}

// Removes the rejects that became events. A store error fails the whole step.
Result<void> Readmission::settle(Group& group) {
  std::vector<RejectNo> gone;
  std::optional<Error> failed;
  for (const auto& each : group) {
    if (each->invalid) continue;
    if (const auto* error = std::get_if<Error>(&each->received)) {
      failed = *error;
      continue;
    }
    const auto* accepted = std::get_if<Stored>(&each->received);
    if (accepted == nullptr) continue;
    // A reject with unusable items is kept as their only copy; its other items are duplicates the
    // next time.
    if (accepted->rejected.empty()) gone.push_back(each->stored.row.no);
    deps_.metrics.reject_admitted(each->entry->source.name);
    for (const Accepted& event : accepted->events) {
      counter_of(*each->entry->metrics, event).Increment();
    }
  }
  // After the events are durable: a reject left by a crash is a duplicate when tried again.
  if (!gone.empty()) HAPAX_TRY(deps_.rejects.remove_rejects(gone));
  if (failed) return *failed;
  return {};
}

Result<std::variant<Readmission::Absent, Readmission::StillInvalid, Readmission::Admitted>>
Readmission::admit(RejectNo number) {
  using Answer = std::variant<Absent, StillInvalid, Admitted>;
  HAPAX_TRY_ASSIGN(stored, deps_.rejects.reject(number));
  if (!stored) return Answer(Absent());
  Group group;
  group.push_back(prepare(*std::move(stored), deps_.sources()));
  run(group);
  const Candidate& candidate = *group.front();
  if (candidate.invalid) return Answer(*candidate.invalid);
  HAPAX_TRY(settle(group));
  const auto* accepted = std::get_if<Stored>(&candidate.received);
  if (accepted == nullptr) return Error(Code::store_unavailable, "the request was not stored");
  return Answer(Admitted{in_json(candidate.entry->source, *accepted)});
}

Result<Readmission::Stepped> Readmission::admit(const Step& step) {
  HAPAX_TRY_ASSIGN(
      page,
      deps_.rejects.rejects(
          {.filter = step.filter, .after = step.after, .oldest_first = true, .limit = step.limit}));
  const std::shared_ptr<const Sources> sources = deps_.sources();
  Stepped stepped;
  stepped.next = page.next;
  for (auto row = page.rejects.begin(); row != page.rejects.end();) {
    Group group;
    std::size_t bytes = 0;
    for (; row != page.rejects.end() && group.size() < kAtOnce && bytes < kBytesAtOnce; ++row) {
      HAPAX_TRY_ASSIGN(stored, deps_.rejects.reject(row->no));
      if (!stored) continue;  // evicted, or admitted concurrently
      bytes += stored->body.size();
      group.push_back(prepare(*std::move(stored), sources));
    }
    if (step.dry) {
      HAPAX_TRY(dry_run(group));
    } else {
      run(group);
      HAPAX_TRY(settle(group));
    }
    for (const auto& each : group) {
      ++stepped.matched;
      const auto* accepted = std::get_if<Stored>(&each->received);
      if (each->invalid) {
        ++stepped.still_invalid;
        ++stepped.reasons[each->invalid->reason];
      } else if (accepted != nullptr) {
        ++(all_known(*accepted) ? stepped.duplicates : stepped.admitted);
      }
    }
  }
  return stepped;
}

Readmission::Diagnosis Readmission::diagnose(const store::StoredReject& stored) {
  const auto candidate = prepare(stored, deps_.sources());
  Diagnosis diagnosis{candidate->invalid, {}};
  if (candidate->invalid) return diagnosis;
  const Source& source = candidate->entry->source;
  Receiver receiver(deps_.receiver);
  const auto checked =
      receiver.authenticate_and_identify(source, candidate->request, candidate->context);
  const auto* refused = std::get_if<Refused>(&checked);
  if (refused == nullptr) return diagnosis;
  diagnosis.invalid = {std::string(name(refused->reason)), refused->detail};
  Scratch scratch;
  const bool authentic =
      candidate->context.item ||
      source.verifier.verify(candidate->request, candidate->context.received, scratch).authentic();
  if (authentic || !source.scheme) return diagnosis;
  std::vector<Header> parameters;
  for (const OwnedHeader& each : source.parameters) parameters.push_back({each.name, each.value});
  diagnosis.explanation = explain(source.scheme->scheme, source.secrets, candidate->request,
                                  candidate->context.received, {source.key_id, parameters});
  return diagnosis;
}

}  // namespace hapax::gateway
