// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "deliver/replays.hpp"
#include "admin/api/replay_request.hpp"
#include "admin/api/reply.hpp"
#include "admin/api/resources.hpp"
#include "admin/json_object.hpp"
#include "admin/names.hpp"
#include "admin/query.hpp"
#include "base/try.hpp"
#include "http/problem.hpp"

#include <algorithm>

// Bulk replays.
namespace hapax::admin {

namespace {

using deliver::ReplayJob;

constexpr std::string_view kWriteReplays =
    R"(write {"filter":{"source":"...","status":"dead","since":"...","until":"..."},"as":"same",)"
    R"("destination":"...","rate":100,"accept_duplicate":false,"dry_run":true})";
constexpr int kAccepted = 202;

struct ReplayRequest {
  ReplayJob job;
  bool nothing = false;  // the source is unknown
  bool nowhere = false;  // the destination is unknown
  bool dry = false;
};

Result<void> read_source(const ApiContext& context, const Members& filter, ReplayRequest& asked) {
  HAPAX_TRY_ASSIGN(source, filter.text("source"));
  if (!source) return {};
  HAPAX_TRY_ASSIGN(names, Names::read(context.catalog, store::NameKind::source));
  const std::optional<std::int64_t> number = names.find(*source);
  asked.nothing = !number;
  asked.job.source = SourceNo(number.value_or(0));
  return {};
}

Result<void> read_filter(const ApiContext& context, const Members& filter, ReplayRequest& asked) {
  HAPAX_TRY(read_source(context, filter, asked));
  ReplayJob& job = asked.job;
  HAPAX_TRY_TO(job.tenant, filter.text("tenant"));
  HAPAX_TRY_TO(job.id, filter.text("id"));
  HAPAX_TRY_TO(job.type, filter.text("type"));
  HAPAX_TRY_TO(job.order_key, filter.text("order_key"));
  HAPAX_TRY_TO(job.status, filter.state("status"));
  HAPAX_TRY_TO(job.since, filter.time("since"));
  HAPAX_TRY_TO(job.until, filter.time("until"));
  return {};
}

Result<ReplayRequest> read_replay_request(const ApiContext& context, std::string_view body) {
  HAPAX_TRY_ASSIGN(members, Members::read(body, kWriteReplays,
                                          {"filter", "as", "destination", "rate",
                                           "accept_duplicate", "dry_run"}));
  HAPAX_TRY(members.no_nulls());  // null must not match everything, or start a real run
  ReplayRequest asked;
  HAPAX_TRY_ASSIGN(filter, members.object("filter", {"source", "tenant", "status", "type", "id",
                                                     "order_key", "since", "until"}));
  if (!filter) return members.bad("filter is required; {} matches all events");
  HAPAX_TRY(filter->no_nulls());
  HAPAX_TRY(read_filter(context, *filter, asked));
  HAPAX_TRY_ASSIGN(how, read_how(context, members));
  asked.nowhere = !how;
  asked.job.how = how.value_or(store::HowToReplay{});
  HAPAX_TRY_ASSIGN(rate, members.number("rate", 1, deliver::kMaxReplayRate));
  asked.job.rate = static_cast<unsigned>(rate.value_or(deliver::kDefaultReplayRate));
  HAPAX_TRY_ASSIGN(dry, members.flag("dry_run"));
  asked.dry = dry.value_or(false);
  return asked;
}

std::string matched_json(std::uint64_t matched) {
  return JsonObject().number("matched", static_cast<std::int64_t>(matched)).done();
}

Result<http::Reply> counted(const ApiContext& context, const ReplayRequest& asked) {
  if (asked.nothing) return ok(matched_json(0));
  HAPAX_TRY_ASSIGN(matched, context.replays.count(asked.job));
  return ok(matched_json(matched));
}

// nullopt: the key was used with another request.
Result<std::optional<ReplayJob>> begin(const ApiContext& context, ReplayRequest asked,
                                       const std::optional<deliver::RequestKey>& key) {
  if (key) return context.replays.begin_once(std::move(asked.job), *key);
  HAPAX_TRY_ASSIGN(job, context.replays.begin(std::move(asked.job)));
  return std::optional(std::move(job));
}

// Whether the key belongs to a started replay. A dry run is not recorded: its key can be used
// again.
Result<bool> is_used(const ApiContext& context, const std::optional<deliver::RequestKey>& key) {
  if (!key) return false;
  HAPAX_TRY_ASSIGN(job, context.replays.find(key->no));
  return job.has_value();
}

std::string filter_json(const ReplayJob& job, const Names& sources) {
  JsonObject json;
  if (job.source) json.text("source", sources.of(job.source->value()));
  if (job.tenant) json.text("tenant", *job.tenant);
  if (job.status) json.text("status", name(*job.status));
  if (job.type) json.text("type", *job.type);
  if (job.id) json.text("id", *job.id);
  if (job.order_key) json.text("order_key", *job.order_key);
  if (job.since) json.time("since", *job.since);
  if (job.until) json.time("until", *job.until);
  return json.done();
}

std::string job_json(const ReplayJob& job, const Names& sources, const Names& destinations) {
  const auto count = [](std::uint64_t number) { return static_cast<std::int64_t>(number); };
  const auto to = job.how.destination;
  return JsonObject()
      .text("replay", deliver::replay_text(job.how.no))
      .text("state", name(job.state))
      .json("filter", filter_json(job, sources))
      .text("as", job.how.as == store::ReplayAs::as_new ? "new" : "same")
      .text_or_null("destination", to ? destinations.of(to->value()) : std::string())
      .flag("accept_duplicate", job.how.accept_duplicate)
      .number("rate", job.rate)
      .number("matched", count(job.matched))
      .number("events", count(job.events))
      .number("replayed", count(job.deliveries))
      .time("started_at", job.started)
      .time_or_null("ended_at", job.ended)
      .done();
}

// Names for the display of jobs.
struct Known {
  Names sources;
  Names destinations;
};
Result<Known> read_names(const ApiContext& context) {
  HAPAX_TRY_ASSIGN(sources, Names::read(context.catalog, store::NameKind::source));
  HAPAX_TRY_ASSIGN(destinations, Names::read(context.catalog, store::NameKind::destination));
  return Known{std::move(sources), std::move(destinations)};
}

Result<http::Reply> one(const ApiContext& context, const Call& call, bool cancel) {
  HAPAX_TRY(Query::parse(call.query, {}));
  const std::optional<ReplayNo> number = deliver::replay_from(call.argument);
  std::optional<ReplayJob> job;
  if (number) {
    HAPAX_TRY_TO(job, cancel ? context.replays.cancel(*number) : context.replays.find(*number));
  }
  if (!job) return http::problem(http::Refusal::not_found, "No replay has this id.");
  HAPAX_TRY_ASSIGN(known, read_names(context));
  return ok(job_json(*job, known.sources, known.destinations));
}

}  // namespace

Result<http::Reply> begin_replay(const ApiContext& context, const Call& call) {
  HAPAX_TRY(Query::parse(call.query, {}));
  HAPAX_TRY_ASSIGN(asked, read_replay_request(context, call.body));
  const IdempotencyKey given = idempotency_key(call.head);
  if (given.malformed) return http::problem(http::Refusal::key_malformed);
  std::optional<deliver::RequestKey> key;
  if (given.value) key = request_key("many", call, *given.value);
  if (asked.nowhere) return no_such_destination();
  if (asked.dry) {
    HAPAX_TRY_ASSIGN(used, is_used(context, key));
    return used ? http::problem(http::Refusal::key_reused) : counted(context, asked);
  }
  HAPAX_TRY_ASSIGN(job, begin(context, std::move(asked), key));
  if (!job) return http::problem(http::Refusal::key_reused);
  http::Reply reply = ok(JsonObject()
                             .text("replay", deliver::replay_text(job->how.no))
                             .number("matched", static_cast<std::int64_t>(job->matched))
                             .done());
  reply.status = kAccepted;
  return reply;
}

Result<http::Reply> list_replays(const ApiContext& context, const Call& call) {
  HAPAX_TRY(Query::parse(call.query, {}));
  HAPAX_TRY_ASSIGN(jobs, context.replays.all());
  HAPAX_TRY_ASSIGN(known, read_names(context));
  std::reverse(jobs.begin(), jobs.end());
  const auto row = [&](const ReplayJob& each) {
    return job_json(each, known.sources, known.destinations);
  };
  return ok(JsonObject().json("replays", json_rows(jobs, row)).done());
}

Result<http::Reply> show_replay(const ApiContext& context, const Call& call) {
  return one(context, call, false);
}

Result<http::Reply> cancel_replay(const ApiContext& context, const Call& call) {
  return one(context, call, true);
}

}  // namespace hapax::admin
