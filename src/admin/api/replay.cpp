// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "admin/api/replay_request.hpp"
#include "admin/api/reply.hpp"
#include "admin/api/resources.hpp"
#include "admin/json_object.hpp"
#include "admin/names.hpp"
#include "admin/query.hpp"
#include "async/delivery_notifier.hpp"
#include "base/try.hpp"
#include "deliver/replay_once.hpp"
#include "env/chance.hpp"
#include "http/problem.hpp"
#include "model/ids.hpp"
#include "store/retry.hpp"

#include <algorithm>

// Replay of one event, and cancellation of one delivery.
namespace hapax::admin {

namespace {

constexpr std::string_view kWriteReplay =
    R"(write {"as":"same","destination":"...","accept_duplicate":false}; )"
    R"(all members are optional; as may be "new")";

// Notifies the destinations of deliveries that became due.
void notify(const ApiContext& context, EventNo event, const std::vector<DeliveryNo>& deliveries) {
  const auto detail = context.catalog.event(event);
  if (!detail || !detail->value) return;  // dispatchers and workers also poll
  for (const store::DeliveryRow& each : detail->value->deliveries) {
    if (std::find(deliveries.begin(), deliveries.end(), each.no) != deliveries.end()) {
      context.notifier.notify(each.to);
    }
  }
}

http::Reply reply_of(EventNo event, const store::Replayed& replayed, store::ReplayAs as) {
  using Status = store::Replayed::Status;
  std::vector<std::string> ids;
  switch (replayed.status) {
    case Status::done:
      for (const DeliveryNo each : replayed.deliveries) ids.push_back(to_text({event, each}));
      return ok(JsonObject().json("deliveries", json_texts(ids)).done());
    case Status::not_replayable:
      return http::problem(kConflict, "not-replayable",
                           as == store::ReplayAs::same
                               ? "The event has no dead, cancelled or superseded delivery. Replay "
                                 "completed ones with as = \"new\"."
                               : "No delivery of the event has ended.");
    case Status::past_horizon:
      return http::problem(kConflict, "past-horizon",
                           "Past the horizon: the receiver may have forgotten the key. Set "
                           "accept_duplicate to replay anyway.");
    case Status::too_many:
      return http::problem(kConflict, "not-replayable", "The event has too many deliveries.");
    case Status::gone:
      return http::problem(http::Refusal::body_gone, "The event has been removed by retention.");
    case Status::absent:
      break;
  }
  return http::problem(http::Refusal::not_found, "No event has this id.");
}

// For a request without a key: each request is a new replay.
Result<std::optional<store::Replayed>> replay_anew(const ApiContext& context, store::Replay what) {
  // Lets the call be repeated after an unknown outcome.
  what.how.no = ReplayNo(random_number(context.random));
  HAPAX_TRY_ASSIGN(answer, store::retry_if_unknown([&] { return context.queue.replay(what); }));
  return std::optional(std::move(answer));
}

}  // namespace

deliver::RequestKey request_key(std::string_view route, const Call& call, std::string_view key) {
  return deliver::request_key(route, key, call.argument, call.body);
}

http::Reply no_such_destination() {
  return http::problem(http::Refusal::not_found, "No destination has this name.");
}

Result<std::optional<store::HowToReplay>> read_how(const ApiContext& context,
                                                   const Members& members) {
  store::HowToReplay how;
  HAPAX_TRY_ASSIGN(as, members.text("as"));
  if (as && *as != "same" && *as != "new") return members.bad("as must be \"same\" or \"new\"");
  how.as = as && *as == "new" ? store::ReplayAs::as_new : store::ReplayAs::same;
  HAPAX_TRY_ASSIGN(accept, members.flag("accept_duplicate"));
  how.accept_duplicate = accept.value_or(false);
  HAPAX_TRY_ASSIGN(to, members.text("destination"));
  if (!to) return std::optional(how);
  HAPAX_TRY_ASSIGN(names, Names::read(context.catalog, store::NameKind::destination));
  const std::optional<std::int64_t> number = names.find(*to);
  if (!number) return std::optional<store::HowToReplay>();
  how.destination = DestinationNo(*number);
  return std::optional(how);
}

Result<http::Reply> replay_event(const ApiContext& context, const Call& call) {
  HAPAX_TRY(Query::parse(call.query, {}));
  HAPAX_TRY_ASSIGN(
      members, Members::read(call.body, kWriteReplay, {"as", "destination", "accept_duplicate"}));
  HAPAX_TRY(members.no_nulls());  // null (an unset variable) must not mean every destination
  const IdempotencyKey key = idempotency_key(call.head);
  if (key.malformed) return http::problem(http::Refusal::key_malformed);
  const std::optional<EventNo> event = event_from(call.argument);
  if (!event) return http::problem(http::Refusal::not_found, "No event has this id.");
  HAPAX_TRY_ASSIGN(asked, read_how(context, members));
  if (!asked) return no_such_destination();
  const store::Replay what{.event = *event, .how = *asked};
  HAPAX_TRY_ASSIGN(answer, key.value
                               ? deliver::replay_once({context.queue, context.catalog, context.node,
                                                       context.clock, context.random},
                                                      what, request_key("event", call, *key.value))
                               : replay_anew(context, what));
  if (!answer) return http::problem(http::Refusal::key_reused);
  notify(context, *event, answer->deliveries);
  return reply_of(*event, *answer, asked->as);
}

Result<http::Reply> cancel_delivery(const ApiContext& context, const Call& call) {
  HAPAX_TRY(Query::parse(call.query, {}));
  const std::optional<DeliveryRef> which = delivery_from(call.argument);
  if (!which) return http::problem(http::Refusal::not_found, "No delivery has this id.");
  HAPAX_TRY_ASSIGN(answer, store::retry_if_unknown([&] { return context.queue.cancel(*which); }));
  switch (answer) {
    case store::Cancelled::done:
      notify(context, which->event, {which->delivery});  // its lane has a new head
      return ok(JsonObject()
                    .text("delivery", to_text(*which))
                    .text("status", name(DeliveryState::cancelled))
                    .done());
    case store::Cancelled::not_possible:
      return http::problem(kConflict, "not-cancellable",
                           "The delivery is completed or superseded.");
    case store::Cancelled::gone:
      return http::problem(http::Refusal::body_gone, "The event has been removed by retention.");
    case store::Cancelled::absent:
      break;
  }
  return http::problem(http::Refusal::not_found, "No delivery has this id.");
}

}  // namespace hapax::admin
