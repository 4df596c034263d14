// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/try.hpp"
#include "cli/admin_client.hpp"
#include "cli/command.hpp"
#include "cli/filter.hpp"
#include "cli/interrupted.hpp"
#include "cli/percent.hpp"
#include "cli/random_id.hpp"
#include "env/pause.hpp"

#include <iostream>

namespace hapax::cli {

namespace {

namespace json = boost::json;

constexpr std::chrono::milliseconds kAskAgain{200};

struct ReplayArguments {
  AdminArguments admin;
  std::string event;
  EventFilter filter;
  bool all = false;
  std::string as = "same";
  std::string destination;
  bool accept_duplicate = false;
  bool dry_run = false;
  bool detach = false;
  std::optional<std::uint64_t> rate;  // nullopt: the server's default
  std::string job, cancel_job, cancel;
  std::string key;  // empty: a random key
};

std::string key_of(const ReplayArguments& arguments) {
  return arguments.key.empty() ? random_id() : arguments.key;
}

json::object how_of(const ReplayArguments& arguments) {
  json::object how{{"as", json::string_view(arguments.as)},
                   {"accept_duplicate", arguments.accept_duplicate}};
  if (!arguments.destination.empty()) {
    how["destination"] = json::string_view(arguments.destination);
  }
  return how;
}

Result<int> replay_one(AdminClient& admin, const ReplayArguments& arguments, const Output& output) {
  const std::string target = "/v1/events/" + percent_encoded(arguments.event) + "/replay";
  HAPAX_TRY_ASSIGN(answer,
                   admin.post_once(target, json::serialize(how_of(arguments)), key_of(arguments)));
  std::string text = "Replayed:";
  for (const json::value& each : list_or_none(answer, "deliveries")) {
    if (each.is_string()) text += " " + std::string(each.get_string());
  }
  output.answer(text + ".", json::serialize(answer));
  return kDone;
}

std::string in_words(const json::value& job) {
  return member_text(job, "events") + " of " + member_text(job, "matched") + " events processed, " +
         member_text(job, "replayed") + " deliveries replayed";
}

std::string how_to_cancel(const std::string& replay) {
  return "cancel it with 'hapax replay --cancel-job " + replay + "'";
}

int show_job(const json::value& job, const Output& output) {
  output.answer("Replay " + member_text(job, "replay") + " is " + member_text(job, "state") + ": " +
                    in_words(job) + ".",
                json::serialize(job));
  return kDone;
}

// Waits until the job has ended or the client is interrupted; the job continues without the client.
Result<int> follow(AdminClient& admin, const std::string& replay, const Output& output) {
  while (!interrupted()) {
    HAPAX_TRY_ASSIGN(job, admin.get_json("/v1/replays/" + percent_encoded(replay)));
    output.progress(in_words(job));
    if (member_text(job, "state") != "running") return show_job(job, output);
    pause(kAskAgain);
  }
  std::cerr << "\nhapax: replay " << replay << " continues; " << how_to_cancel(replay)
            << ", see it with 'hapax replay --job " << replay << "'\n";
  return kDone;
}

Result<int> replay_many(AdminClient& admin, const ReplayArguments& arguments,
                        const Output& output) {
  json::object request = how_of(arguments);
  request["filter"] = object_of(arguments.filter.parameters());
  request["dry_run"] = arguments.dry_run;
  if (arguments.rate) request["rate"] = *arguments.rate;
  HAPAX_TRY_ASSIGN(answer,
                   admin.post_once("/v1/replay", json::serialize(request), key_of(arguments)));
  const std::string matched = member_text(answer, "matched");
  if (arguments.dry_run) {
    output.answer(matched + " events match. Nothing was changed.", json::serialize(answer));
    return kDone;
  }
  const std::string replay = member_text(answer, "replay");
  if (!arguments.detach) return follow(admin, replay, output);
  output.answer(
      "Replay " + replay + " of " + matched + " events is running; " + how_to_cancel(replay) + ".",
      json::serialize(answer));
  return kDone;
}

Result<int> cancel_delivery(AdminClient& admin, const std::string& delivery, const Output& output) {
  const std::string target = "/v1/deliveries/" + percent_encoded(delivery) + "/cancel";
  HAPAX_TRY_ASSIGN(answer, admin.post_json(target, ""));
  output.answer(member_text(answer, "delivery") + " is cancelled.", json::serialize(answer));
  return kDone;
}

Result<int> about_job(AdminClient& admin, const ReplayArguments& arguments, const Output& output) {
  const bool cancel = !arguments.cancel_job.empty();
  const std::string& which = cancel ? arguments.cancel_job : arguments.job;
  const std::string target = "/v1/replays/" + percent_encoded(which);
  HAPAX_TRY_ASSIGN(job, cancel ? admin.delete_json(target) : admin.get_json(target));
  return show_job(job, output);
}

Result<int> replay(const ReplayArguments& arguments, const Output& output) {
  const bool filtered = arguments.all || !query_of(arguments.filter.parameters()).empty();
  const int wishes = int{!arguments.event.empty()} + int{filtered} + int{!arguments.job.empty()} +
                     int{!arguments.cancel_job.empty()} + int{!arguments.cancel.empty()};
  if (wishes != 1) {
    return output.wrong_usage(
        "give one event, or a filter: --source, --status, --since, ..., --all; or --job, "
        "--cancel-job, --cancel");
  }
  HAPAX_TRY_ASSIGN(admin, AdminClient::make(arguments.admin));
  if (!arguments.event.empty()) return replay_one(admin, arguments, output);
  if (!arguments.cancel.empty()) return cancel_delivery(admin, arguments.cancel, output);
  if (!filtered) return about_job(admin, arguments, output);
  return replay_many(admin, arguments, output);
}

constexpr std::string_view kAs[] = {"same", "new"};

}  // namespace

Command replay_command() {
  auto given = std::make_shared<ReplayArguments>();
  return {
      .name = "replay",
      .help = "Replay events of a running server",
      .shared = {given->admin.options()},
      .options = {{"event", &given->event, "One event; or select several with the options"},
                  {"--source", &given->filter.source, "Filter: source"},
                  {"--tenant", &given->filter.tenant, "Filter: tenant"},
                  {"--status", &given->filter.status, "Filter: status, such as dead"},
                  {"--type", &given->filter.type, "Filter: type"},
                  {"--id", &given->filter.id, "Filter: the sender's id"},
                  {"--order-key", &given->filter.order_key, "Filter: order key"},
                  {"--since", &given->filter.since, "Filter: received at or after (RFC 3339)"},
                  {"--until", &given->filter.until, "Filter: received before (RFC 3339)"},
                  {"--all", &given->all, "Filter: all events"},
                  {"--as",
                   &given->as,
                   "same: replay dead, cancelled and superseded deliveries with the same key; new: "
                   "also completed ones, with a new key",
                   {.one_of = kAs}},
                  {"--destination", &given->destination, "Only deliveries to this destination"},
                  {"--accept-duplicate", &given->accept_duplicate,
                   "Include past-horizon deliveries: the receiver may process them again"},
                  {"--dry-run", &given->dry_run, "Only count matches"},
                  {"--rate", &given->rate, "Events per second, with a filter", between(1, 100'000)},
                  {"--detach", &given->detach, "Do not wait for completion"},
                  {"--key", &given->key,
                   "Idempotency-Key of an earlier command with a lost response"},
                  {"--job", &given->job, "Show the progress of this replay"},
                  {"--cancel-job", &given->cancel_job, "Cancel this replay"},
                  {"--cancel", &given->cancel, "Cancel this delivery instead"}},
      .run = run_with(given, replay),
  };
}

}  // namespace hapax::cli
