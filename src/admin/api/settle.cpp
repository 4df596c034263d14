// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "admin/api/async_handler.hpp"
#include "admin/api/reply.hpp"
#include "admin/api/resources.hpp"
#include "admin/json_object.hpp"
#include "admin/members.hpp"
#include "admin/query.hpp"
#include "base/try.hpp"
#include "deliver/classify_response.hpp"
#include "deliver/pull.hpp"
#include "model/ids.hpp"

namespace hapax::admin {

namespace {

using deliver::LeaseId;
using deliver::WorkerResult;

constexpr std::string_view kWriteSettle =
    R"(write {"results":[{"delivery":"...","fence":1,"outcome":"ack"}]}, where outcome is "ack", )"
    R"("retry" or "drop"; "retry_after_s" and "error" are optional)";
constexpr std::string_view kWriteRenew =
    R"(write {"leases":[{"delivery":"...","fence":1}],"lease_s":30})";

// The entry of one lease. A malformed delivery id is reported as unknown, not as an error: one
// bad entry must not keep the others from being settled.
template <class T>
struct Entry {
  std::string delivery;  // as received
  std::optional<T> what = {};
};

Result<WorkerResult::Outcome> read_outcome(const Members& members) {
  HAPAX_TRY_ASSIGN(text, members.needed_text("outcome"));
  if (text == "ack") return WorkerResult::Outcome::ack;
  if (text == "retry") return WorkerResult::Outcome::retry;
  if (text == "drop") return WorkerResult::Outcome::drop;
  return members.bad(R"(outcome must be "ack", "retry" or "drop")");
}

Result<Entry<LeaseId>> read_name(const Members& members) {
  Entry<LeaseId> entry;
  HAPAX_TRY_TO(entry.delivery, members.needed_text("delivery"));
  HAPAX_TRY_ASSIGN(fence, members.needed_number("fence"));
  const std::optional<DeliveryRef> which = delivery_from(entry.delivery);
  if (which) entry.what = LeaseId{*which, Fence(fence)};
  return entry;
}

Result<Entry<WorkerResult>> read_result(const Members& members) {
  HAPAX_TRY_ASSIGN(name, read_name(members));
  WorkerResult result;
  HAPAX_TRY_ASSIGN(outcome, read_outcome(members));
  result.outcome = outcome;
  HAPAX_TRY_ASSIGN(
      after, members.seconds("retry_after_s", std::chrono::seconds(0), deliver::kMaxRetryAfter));
  result.retry_after = after;
  if (after && outcome != WorkerResult::Outcome::retry) {
    return members.bad("retry_after_s is only valid with outcome \"retry\"");
  }
  HAPAX_TRY_ASSIGN(error, members.text("error"));
  result.error = std::move(error).value_or("");
  if (!name.what) return Entry<WorkerResult>{std::move(name.delivery)};
  result.lease = *name.what;
  return Entry<WorkerResult>{std::move(name.delivery), std::move(result)};
}

Result<std::vector<Entry<WorkerResult>>> read_results(const Call& call) {
  HAPAX_TRY(Query::parse(call.query, {}));
  HAPAX_TRY_ASSIGN(body, Members::read_strictly(call.body, kWriteSettle, {"results"}));
  HAPAX_TRY_ASSIGN(results,
                   body.needed_objects("results", store::kMaxLeaseCount,
                                       {"delivery", "fence", "outcome", "retry_after_s", "error"}));
  std::vector<Entry<WorkerResult>> entries;
  for (const Members& each : results) {
    HAPAX_TRY_ASSIGN(entry, read_result(each));
    entries.push_back(std::move(entry));
  }
  return entries;
}

struct Renewal {
  std::vector<Entry<LeaseId>> leases;
  std::optional<std::chrono::milliseconds> lease = {};
};

Result<Renewal> read_renewal(const Call& call) {
  HAPAX_TRY(Query::parse(call.query, {}));
  HAPAX_TRY_ASSIGN(body, Members::read_strictly(call.body, kWriteRenew, {"leases", "lease_s"}));
  HAPAX_TRY_ASSIGN(leases,
                   body.needed_objects("leases", store::kMaxLeaseCount, {"delivery", "fence"}));
  Renewal renewal;
  for (const Members& each : leases) {
    HAPAX_TRY_ASSIGN(entry, read_name(each));
    renewal.leases.push_back(std::move(entry));
  }
  HAPAX_TRY_TO(renewal.lease,
               body.seconds("lease_s", deliver::kMinPullLease, deliver::kMaxPullLease));
  return renewal;
}

// The destinations that the caller may access. Empty: all of them.
deliver::DestinationFilter filter_of(const ApiContext& context, const Call& call, Right right) {
  if (call.rights.all()) return {};
  return [&context, &call, right](DestinationNo destination) {
    const DestinationView* const found = context.config.find(destination);
    return found != nullptr && call.rights.may(right, found->name);
  };
}

std::string_view word(store::Settled settled) {
  switch (settled) {
    case store::Settled::ok:
      return "ok";
    case store::Settled::stale:
      return "stale";
    case store::Settled::unknown:
      break;
  }
  return "unknown";
}

// One result per entry, in order. Entries without a valid id were not settled.
template <class T>
std::string results_json(const std::vector<Entry<T>>& entries,
                         const std::vector<store::Settled>& settled) {
  std::vector<std::string> results;
  std::size_t next = 0;
  for (const Entry<T>& each : entries) {
    const store::Settled its = each.what ? settled[next++] : store::Settled::unknown;
    results.push_back(
        JsonObject().text("delivery", each.delivery).text("status", word(its)).done());
  }
  return JsonObject().json("results", json_list(results)).done();
}

template <class T>
std::vector<T> known_of(std::vector<Entry<T>>& entries) {
  std::vector<T> known;
  for (Entry<T>& each : entries) {
    if (each.what) known.push_back(*each.what);
  }
  return known;
}

Task<http::Reply> settle_deliveries(const AsyncContext& wait, const Call& call) {
  Result<std::vector<Entry<WorkerResult>>> entries = read_results(call);
  if (!entries) co_return failure(entries.error());
  const std::vector<WorkerResult> results = known_of(*entries);
  const deliver::DestinationFilter allowed = filter_of(wait.context, call, Right::settle);
  const Result<std::vector<store::Settled>> settled = co_await wait.pull.settle(results, allowed);
  if (!settled) co_return failure(settled.error());
  co_return ok(results_json(*entries, *settled));
}

Task<http::Reply> renew_leases(const AsyncContext& wait, const Call& call) {
  Result<Renewal> renewal = read_renewal(call);
  if (!renewal) co_return failure(renewal.error());
  const std::vector<LeaseId> leases = known_of(renewal->leases);
  const deliver::DestinationFilter allowed = filter_of(wait.context, call, Right::lease);
  const Result<std::vector<store::Settled>> settled =
      co_await wait.pull.renew(leases, renewal->lease, allowed);
  if (!settled) co_return failure(settled.error());
  co_return ok(results_json(renewal->leases, *settled));
}

}  // namespace

const AsyncHandler kSettleDeliveries{&settle_deliveries};
const AsyncHandler kRenewLeases{&renew_leases};

}  // namespace hapax::admin
