// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "cli/admin_client.hpp"
#include "cli/command.hpp"
#include "cli/pages.hpp"
#include "cli/table.hpp"

#include <CLI/CLI.hpp>

#include <array>

namespace hapax::cli {

namespace {

struct EventsArguments {
  AdminArguments admin;
  // Each as the parameter of GET /v1/events of the same name.
  std::string source, tenant, status, type, id, order_key, since, until;
  std::uint64_t limit = 50;
};

std::string query_of(const EventsArguments& arguments) {
  return cli::query_of({{"source", arguments.source},
                        {"tenant", arguments.tenant},
                        {"status", arguments.status},
                        {"type", arguments.type},
                        {"id", arguments.id},
                        {"order_key", arguments.order_key},
                        {"since", arguments.since},
                        {"until", arguments.until}});
}

int events_command(const EventsArguments& arguments, const Output& output) {
  const Result<Listed> listed =
      read_pages(arguments.admin, "/v1/events", "events", query_of(arguments), arguments.limit);
  if (!listed) return output.fail(listed.error());
  if (listed->rows.empty()) {
    output.answer_nothing("No such events.");
    return kDone;
  }
  constexpr std::array<std::string_view, 9> kColumns{
      "event", "received_at", "source", "id", "type", "status", "size", "duplicates", "would"};
  output.answer(as_table(kColumns, listed->rows), in_json_lines(listed->rows));
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
