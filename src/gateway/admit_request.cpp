// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "gateway/admit_request.hpp"

#include "base/sha256.hpp"
#include "base/try.hpp"
#include "model/field.hpp"
#include "model/headers.hpp"

#include <algorithm>
#include <iterator>

namespace hapax::gateway {

namespace {

bool is_secret(const Source& source, std::string_view name) {
  return std::any_of(source.secret_headers.begin(), source.secret_headers.end(),
                     [&](const std::string& each) { return equal_ignoring_case(each, name); });
}

// The headers as received, with secret values redacted.
std::string stored_headers(const Source& source, const Request& request) {
  constexpr std::size_t kEach = 16;  // lengths, and a secret's longer replacement
  std::size_t size = 0;
  for (const Header& each : request.headers) size += each.name.size() + each.value.size() + kEach;
  std::string out;
  out.reserve(size);
  for (const Header& each : request.headers) {
    append_header(out, each.name, is_secret(source, each.name) ? "<redacted>" : each.value);
  }
  return out;
}

store::Arrival arrival_of(const Source& source, const Item& item, EventNo number,
                          const RoutingTable& targets) {
  const Identity& identity = item.identity;
  store::Arrival arrival;
  arrival.no = number;
  arrival.source = source.no;
  arrival.tenant = tenant_of(source, identity);
  arrival.key = identity.key;
  arrival.id = identity.id;
  arrival.type = identity.type;
  arrival.order_key = identity.order_key;
  arrival.version = identity.version;
  arrival.digest = sha256(item.bytes);
  arrival.body = item.bytes;
  arrival.remember = source.remember;
  arrival.targets = targets;
  return arrival;
}

}  // namespace

const Item* first_refused(const Identified& identified) {
  const auto found = std::find_if(identified.items.begin(), identified.items.end(),
                                  [](const Item& each) { return each.reason != Reason::none; });
  return found == identified.items.end() ? nullptr : &*found;
}

std::vector<Item> take_refused(Identified& identified) {
  std::vector<Item> refused;
  if (first_refused(identified) == nullptr) return refused;
  const auto from =
      std::stable_partition(identified.items.begin(), identified.items.end(),
                            [](const Item& each) { return each.reason == Reason::none; });
  refused.assign(std::make_move_iterator(from), std::make_move_iterator(identified.items.end()));
  identified.items.erase(from, identified.items.end());
  return refused;
}

Result<AdmitRequest> AdmitRequest::make(const Source& source, const Request& request,
                                        const Identified& identified, NodeNumbers& numbers) {
  AdmitRequest made;
  made.headers_ = stored_headers(source, request);
  made.targets_ = source.routing->current();
  made.arrivals_.reserve(identified.items.size());
  for (const Item& each : identified.items) {
    const std::optional<EventNo> number = numbers.next();
    if (!number) {
      return Error(Code::store_unavailable, "this node's number could not be renewed in the store");
    }
    made.arrivals_.push_back(arrival_of(source, each, *number, *made.targets_));
  }
  made.enforce_ = source.enforce;
  HAPAX_TRY(check(made.admit()));
  return made;
}

void AdmitRequest::claim_by_reject(RejectNo reject) {
  for (std::size_t i = 0; i < arrivals_.size(); ++i) {
    // Cannot collide with the key of a sender's id: those begin with a kind.
    const std::string name = "reject:" + to_text(reject) + ":" + std::to_string(i);
    if (arrivals_[i].key.empty()) arrivals_[i].key = keys_.emplace_back(name);
  }
}

store::Admit AdmitRequest::admit(Would would) {
  for (store::Arrival& each : arrivals_) each.headers = headers_;
  return {.arrivals = arrivals_, .would = would, .guard = enforce_};
}

std::vector<Accepted> AdmitRequest::accepted(const std::vector<store::Admission>& admissions,
                                             WallTime now, DuplicateCounts& duplicates) const {
  using Kind = store::Admission::Kind;
  std::vector<Accepted> accepted;
  accepted.reserve(admissions.size());
  for (std::size_t i = 0; i < admissions.size(); ++i) {
    const store::Arrival& arrival = arrivals_[i];
    const store::Admission& admission = admissions[i];
    const bool changed = admission.kind == Kind::changed;
    if (changed) duplicates.count_changed(admission.event, arrival.digest, now, arrival.body);
    if (admission.kind == Kind::duplicate) duplicates.count(admission.event);
    accepted.push_back({.event = admission.event,
                        .id = std::string(arrival.id),
                        .duplicate = admission.kind != Kind::fresh,
                        .changed = changed});
  }
  return accepted;
}

}  // namespace hapax::gateway
