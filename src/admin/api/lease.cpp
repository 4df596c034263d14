// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "admin/api/async_handler.hpp"
#include "admin/api/event_json.hpp"
#include "admin/api/reply.hpp"
#include "admin/api/resources.hpp"
#include "admin/json_object.hpp"
#include "admin/members.hpp"
#include "admin/names.hpp"
#include "admin/query.hpp"
#include "base/base64.hpp"
#include "base/json_text.hpp"
#include "base/try.hpp"
#include "deliver/outgoing.hpp"
#include "deliver/polls.hpp"
#include "deliver/pull.hpp"
#include "http/problem.hpp"

#include <algorithm>

namespace hapax::admin {

namespace {

using std::chrono::milliseconds;

constexpr std::string_view kWriteLease =
    R"(write {"destination":"...","max":10,"lease_s":30,"wait_s":20}; only destination is required)";

struct LeaseCall {
  std::string destination;
  deliver::Wanted wanted;
};

Result<LeaseCall> read_lease_call(const Call& call) {
  HAPAX_TRY(Query::parse(call.query, {}));
  HAPAX_TRY_ASSIGN(members, Members::read_strictly(call.body, kWriteLease,
                                                   {"destination", "max", "lease_s", "wait_s"}));
  LeaseCall asked;
  HAPAX_TRY_TO(asked.destination, members.needed_text("destination"));
  HAPAX_TRY_ASSIGN(max, members.number("max", 1, store::kMaxLeaseCount));
  asked.wanted.max = static_cast<std::size_t>(max.value_or(1));
  HAPAX_TRY_TO(asked.wanted.lease,
               members.seconds("lease_s", deliver::kMinPullLease, deliver::kMaxPullLease));
  HAPAX_TRY_ASSIGN(wait, members.seconds("wait_s", std::chrono::seconds(0), deliver::kMaxPullWait));
  asked.wanted.wait = wait.value_or(milliseconds(0));
  return asked;
}

// As for push, a sender's Idempotency-Key or Hapax-* header is removed.
std::string headers_of(const store::StoredEvent& event) {
  return headers_json(deliver::senders_headers(event.headers));
}

// For `hapax listen`, which posts the delivery itself: all headers that the server would send, byte
// for byte. Values are in base64, because JSON strings cannot hold arbitrary bytes.
std::string pushed_headers(const deliver::Destination& to, const store::Leased& leased,
                           std::string_view source) {
  const deliver::OutgoingDelivery out = deliver::outgoing(to, leased, source, WallTime());
  return json_rows(out.headers, [](const Header& each) {
    return '[' + json_string(each.name) + ",\"" + to_base64(each.value) + "\"]";
  });
}

std::string delivery_json(const DestinationView& to, const store::Leased& leased,
                          std::string_view source) {
  const store::StoredEvent& event = leased.event;
  JsonObject json;
  json.text("delivery", to_text(DeliveryRef{event.no, leased.delivery}))
      .number("fence", leased.fence.value())
      .text("event", to_text(event.no))
      .text("source", source)
      .text("tenant", event.tenant)
      .text("id", event.id)
      .text("type", event.type)
      .number("attempt", leased.attempt)
      .time("received_at", event.received)
      .time("lease_until", leased.until)
      .json("headers", headers_of(event))
      .json("body_base64", '"' + to_base64(event.body) + '"');
  if (to.listen) json.json("push_headers", pushed_headers(*to.how, leased, source));
  if (event.would != Would::none) json.text("would", name(event.would));
  if (leased.replay_of) {
    json.text("replay_of", to_text(DeliveryRef{event.no, *leased.replay_of}));
  }
  return json.done();
}

std::optional<std::string> source_name(const ConfigView& config, SourceNo source) {
  const auto found = std::find_if(config.sources.begin(), config.sources.end(),
                                  [&](const SourceView& each) { return each.no == source; });
  return found == config.sources.end() ? std::nullopt : std::optional(found->name);
}

// Queries the store only for the names of sources that are no longer configured. `room` is the
// estimated size. Each body is freed once it is written, so that the bodies are not held twice.
Result<std::string> leases_json(const ApiContext& context, const DestinationView& to,
                                store::Lease& lease, std::size_t room) {
  std::optional<Names> names;
  std::string json = R"({"deliveries":[)";
  json.reserve(room);
  for (store::Leased& each : lease.deliveries) {
    std::optional<std::string> source = source_name(context.config, each.event.source);
    if (!source && !names) {
      HAPAX_TRY_TO(names, Names::read(context.catalog, store::NameKind::source));
    }
    if (!source) source = names->of(each.event.source.value());
    if (json.back() == '}') json += ',';
    json += delivery_json(to, each, *source);
    each.event.body = std::string();
  }
  json += "]}";
  return json;
}

http::Reply no_such(std::string_view destination) {
  return http::problem(http::Refusal::not_found,
                       "Unknown destination '" + std::string(destination.substr(0, 128)) + "'.");
}

http::Reply pushed(std::string_view destination) {
  return http::problem(409, "not-pull",
                       "The server pushes to '" + std::string(destination) +
                           "'. Only destinations with kind = \"pull\" can be leased.");
}

http::Reply too_many(std::string_view destination) {
  return http::problem(http::Refusal::queue_full,
                       "Too many long polls for '" + std::string(destination) +
                           "'; the remaining slots are reserved for other destinations.");
}

Task<http::Reply> lease_deliveries(const AsyncContext& wait, const Call& call) {
  const Result<LeaseCall> asked = read_lease_call(call);
  if (!asked) co_return failure(asked.error());
  const std::string& name = asked->destination;
  if (!call.rights.may(Right::lease, name)) co_return forbidden("lease:" + name);
  const DestinationView* const to = wait.context.config.find(name);
  if (to == nullptr) co_return no_such(name);
  if (!to->how || to->how->kind != deliver::Destination::Kind::pull) co_return pushed(name);
  const deliver::Polls::Permit permit(wait.polls, to->no);
  if (!permit) co_return too_many(name);
  const auto may = [&] { return wait.may(Right::lease, name); };
  const std::function<bool()> is_gone = [&] {
    return !may() || (call.probe != nullptr && call.probe->peer_closed());
  };
  Result<deliver::GivenLease> given = co_await wait.pull.lease(*to->how, asked->wanted, is_gone);
  if (!given) co_return failure(given.error());
  store::Lease& lease = given->lease;
  if (lease.deliveries.empty()) {
    co_return may() ? ok(R"({"deliveries":[]})") : forbidden("lease:" + name);
  }
  const auto release = [pull = &wait.pull, leases = deliver::ids_of(lease), no = to->no] {
    pull->release(leases, no);
  };
  const std::function<http::Reply()> work = [&] {
    Result<std::string> json = leases_json(wait.context, *to, lease, given->room->bytes());
    return json ? ok(*std::move(json)) : failure(json.error());
  };
  http::Reply reply = co_await wait.run_blocking(work);
  if (!may()) reply = forbidden("lease:" + name);
  if (reply.status == 200) {
    given->room->resize(reply.body.capacity());
    reply.held = given->room;
    reply.unsent = release;
  } else {
    release();
  }
  co_return reply;
}

}  // namespace

const AsyncHandler kLeaseDeliveries{&lease_deliveries};

}  // namespace hapax::admin
