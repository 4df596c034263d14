// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/try.hpp"
#include "cli/admin_client.hpp"
#include "cli/command.hpp"
#include "cli/percent.hpp"
#include "cli/table.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>

namespace hapax::cli {

namespace {

namespace json = boost::json;

constexpr std::uint64_t kPage = 100;

struct EventsArguments {
  AdminArguments admin;
  // Each as the parameter of GET /v1/events of the same name.
  std::string source, tenant, status, type, id, order_key, since, until;
  std::uint64_t limit = 50;
};

std::string query_of(const EventsArguments& arguments) {
  std::string query;
  const auto add = [&query](std::string_view name, const std::string& value) {
    if (!value.empty()) query += "&" + std::string(name) + "=" + percent_encoded(value);
  };
  add("source", arguments.source);
  add("tenant", arguments.tenant);
  add("status", arguments.status);
  add("type", arguments.type);
  add("id", arguments.id);
  add("order_key", arguments.order_key);
  add("since", arguments.since);
  add("until", arguments.until);
  return query;
}

struct Page {
  json::array events;
  std::string next;  // empty: it was the last
};

Result<Page> page_of(AdminClient& admin, const std::string& target) {
  HAPAX_TRY_ASSIGN(answer, admin.get_json(target));
  json::value* events = answer.is_object() ? answer.get_object().if_contains("events") : nullptr;
  if (events == nullptr || !events->is_array()) {
    return Error(Code::misconfigured, "the answer of the server has no list of events in it");
  }
  return Page{std::move(events->get_array()), shown(answer, "next")};
}

Result<json::array> all_pages(const EventsArguments& arguments) {
  HAPAX_TRY_ASSIGN(admin, AdminClient::make(arguments.admin));
  const std::string query = query_of(arguments);
  json::array events;
  std::string after;
  while (events.size() < arguments.limit) {
    const std::uint64_t wanted = std::min<std::uint64_t>(kPage, arguments.limit - events.size());
    HAPAX_TRY_ASSIGN(page, page_of(admin, "/v1/events?limit=" + std::to_string(wanted) + query +
                                              (after.empty() ? "" : "&after=" + after)));
    for (json::value& each : page.events) events.push_back(std::move(each));
    if (page.next.empty() || page.events.empty()) break;
    after = percent_encoded(page.next);
  }
  if (events.size() > arguments.limit) events.resize(arguments.limit);
  return events;
}

std::string in_table(const json::array& events) {
  constexpr std::array<std::string_view, 9> kColumns{
      "event", "received_at", "source", "id", "type", "status", "size", "duplicates", "would"};
  json::array rows = events;
  for (json::value& each : rows) {
    const std::string tenant = shown(each, "tenant");
    if (!tenant.empty()) each.as_object()["source"] = shown(each, "source") + "/" + tenant;
  }
  return as_table(kColumns, rows);
}

int events_command(const EventsArguments& arguments, const Output& output) {
  const Result<json::array> events = all_pages(arguments);
  if (!events) return output.fail(events.error());
  if (events->empty()) {
    output.answer_nothing("No such events.");
    return kDone;
  }
  std::string lines;
  for (const json::value& each : *events) {
    lines += (lines.empty() ? "" : "\n") + json::serialize(each);
  }
  output.answer(in_table(*events), lines);
  return kDone;
}

}  // namespace

void add_events(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("events", "List events of a running server");
  auto arguments = std::make_shared<EventsArguments>();
  arguments->admin.add_to(*command);
  command->add_option("--source", arguments->source, "Only of this source");
  command->add_option("--tenant", arguments->tenant, "Only of this tenant");
  command->add_option("--status", arguments->status,
                      "pending, leased, completed, dead, superseded or cancelled");
  command->add_option("--type", arguments->type, "Only of this type");
  command->add_option("--id", arguments->id, "Only with this id of the sender");
  command->add_option("--order-key", arguments->order_key, "Only with this order key");
  command->add_option("--since", arguments->since, "Received then or later: 2025-10-09T08:53:20Z");
  command->add_option("--until", arguments->until, "Received before then");
  command->add_option("--limit", arguments->limit, "How many at most")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000}))
      ->capture_default_str();
  command->callback([&action, arguments] {
    action = [arguments](const Output& output) { return events_command(*arguments, output); };
  });
}

}  // namespace hapax::cli
