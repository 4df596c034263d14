// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "sim/senders.hpp"

#include <algorithm>
#include <set>

namespace hapax::sim {

namespace {

const std::string kSecret = "whsec_simulated";
constexpr BootTime kPatience = seconds(10);

const Scheme& scheme() {
  return preset("stripe")->verify;
}

}  // namespace

gateway::Source make_source(const std::string& name, bool lanes, bool versions) {
  IdentityRule rule;
  rule.id = {"json:/id"};
  if (lanes) rule.order_key = "json:/k";
  if (versions) rule.version = "json:/v";
  const std::vector<std::string> secrets{kSecret};
  gateway::Source source{.name = name,
                         .secrets = secrets,
                         .key_id = {},
                         .parameters = {},
                         .verifier = Verifier::make(scheme(), secrets).value(),
                         .identifier = Identifier::make(rule).value(),
                         .secret_headers = {},
                         .max_body = 1 << 20,
                         .ack = {},
                         .deliver_to = {}};
  return source;
}

// A request in transit.
struct Senders::Sent {
  std::string body;
  std::vector<OwnedHeader> headers;
  std::vector<Header> views;

  Request request() {
    for (const OwnedHeader& each : headers) views.push_back({each.name, each.value});
    return {.url = "https://hooks.example.com/in/x", .headers = views, .body = body};
  }
};

void Senders::plan(const std::vector<gateway::Source>& sources, std::size_t events, BootTime span) {
  const std::uint64_t lanes = 1 + timeline_.below(8);
  for (std::size_t i = 0; i < events; ++i) {
    const gateway::Source& source = sources[timeline_.below(sources.size())];
    Message message;
    message.source = &source;
    message.id = "evt_" + std::to_string(i);
    message.body = "{\"id\":\"" + message.id + "\",\"k\":\"k" +
                   std::to_string(timeline_.below(lanes)) +
                   "\",\"v\":" + std::to_string(timeline_.below(events)) + "}";
    ledger_.sent(source.no, message.id, message.body);
    messages_.push_back(std::move(message));
    timeline_.in(timeline_.between(BootTime(0), span), [this, i] { send(i, true); });
  }
}

void Senders::send(std::size_t number, bool again) {
  const Message& message = messages_[number];
  if (again && message.heard) return;
  // Providers use a growing backoff; here the retry also covers a lost answer.
  if (again) timeline_.in(kPatience, [this, number] { send(number, true); });
  if (faulty_ && timeline_.one_in(6)) {
    timeline_.in(timeline_.between(BootTime(0), seconds(5)),
                 [this, number] { send(number, false); });
  }
  Node* node = nodes_[timeline_.below(nodes_.size())].get();
  if (node == nullptr || !node->accepts()) return;  // refused, or never answered
  const bool forged = faulty_ && timeline_.one_in(20);
  const Request bare{.url = "https://hooks.example.com/in/x", .body = message.body};
  Result<Signed> made = sign(scheme(), forged ? "whsec_guessed" : kSecret, bare, message.id,
                             timeline_.clock().wall());
  auto sent = std::make_shared<Sent>(Sent{message.body, std::move(made->headers), {}});
  const Request request = sent->request();
  node->receive(*message.source, request, [this, number, forged, sent](const auto& received) {
    answered(number, forged, received);
  });
}

void Senders::answered(std::size_t number, bool forged, const gateway::Received& received) {
  Message& message = messages_[number];
  const auto* stored = std::get_if<gateway::Stored>(&received);
  timeline_.note("sender", message.id + (stored != nullptr ? " acked" : " refused"));
  if (stored == nullptr) return;
  if (forged) return timeline_.fail("forged", message.id + " was accepted with a wrong signature");
  const gateway::Accepted& accepted = stored->events.at(0);
  if (message.event && *message.event != accepted.event) {
    timeline_.fail("one-event", message.id + " is two events");
  }
  message.event = accepted.event;
  check_stored(message);
  if (!faulty_ || !timeline_.one_in(8)) message.heard = true;  // else the answer is lost
}

void Senders::check_stored(const Message& message) {
  const auto body = store_.catalog->body(*message.event, store::BodyOf::event);
  if (!body || !body->value || *body->value != message.body) {
    timeline_.fail("acked-durable", message.id + " was acknowledged and is not stored");
  }
}

bool Senders::all_acked() const {
  return std::all_of(messages_.begin(), messages_.end(),
                     [](const auto& each) { return each.heard; });
}

std::size_t Senders::acked() const {
  return static_cast<std::size_t>(std::count_if(messages_.begin(), messages_.end(),
                                                [](const auto& each) { return each.event; }));
}

void Senders::check_end() {
  for (const Message& each : messages_) {
    if (each.event) check_stored(each);
  }
  std::set<std::pair<SourceNo, std::string>> seen;
  store::EventQuery query;
  for (bool more = true; more;) {
    const Result<store::EventPage> page = store_.catalog->events(query);
    for (const store::EventRow& each : page->events) {
      if (!seen.insert({each.source, each.id}).second) {
        timeline_.fail("one-event", each.id + " is two events");
      }
    }
    more = page->next.has_value();
    if (more) query.before = *page->next;
  }
}

}  // namespace hapax::sim
