// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/try.hpp"
#include "cli/admin_client.hpp"
#include "cli/command.hpp"
#include "cli/pages.hpp"
#include "cli/table.hpp"

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

Result<int> list_events(const EventsArguments& arguments, const Output& output) {
  HAPAX_TRY_ASSIGN(listed, read_pages(arguments.admin, "/v1/events", "events", query_of(arguments),
                                      arguments.limit));
  if (listed.rows.empty()) {
    output.answer_nothing("No such events.");
    return kDone;
  }
  constexpr std::array<std::string_view, 9> kColumns{
      "event", "received_at", "source", "id", "type", "status", "size", "duplicates", "would"};
  output.answer(as_table(kColumns, listed.rows), in_json_lines(listed.rows));
  return kDone;
}

}  // namespace

Command events_command() {
  auto given = std::make_shared<EventsArguments>();
  return {
      .name = "events",
      .help = "List events of a running server",
      .shared = {given->admin.options()},
      .options = {{"--source", &given->source, "Only of this source"},
                  {"--tenant", &given->tenant, "Only of this tenant"},
                  {"--status", &given->status,
                   "pending, leased, completed, dead, superseded or cancelled"},
                  {"--type", &given->type, "Only of this type"},
                  {"--id", &given->id, "Only with this id of the sender"},
                  {"--order-key", &given->order_key, "Only with this order key"},
                  {"--since", &given->since, "Received then or later: 2025-10-09T08:53:20Z"},
                  {"--until", &given->until, "Received before then"},
                  {"--limit", &given->limit, "How many at most", between(1, 1'000'000)}},
      .run = run_with(given, list_events),
  };
}

}  // namespace hapax::cli
