// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/try.hpp"
#include "cli/admin_client.hpp"
#include "cli/command.hpp"
#include "cli/filter.hpp"
#include "cli/pages.hpp"
#include "cli/table.hpp"

#include <array>

namespace hapax::cli {

namespace {

struct EventsArguments {
  AdminArguments admin;
  EventFilter filter;
  std::uint64_t limit = 50;
};

Result<int> list_events(const EventsArguments& arguments, const Output& output) {
  HAPAX_TRY_ASSIGN(listed, read_pages(arguments.admin, "/v1/events", "events",
                                      query_of(arguments.filter.parameters()), arguments.limit));
  constexpr std::array<std::string_view, 9> kColumns{
      "event", "received_at", "source", "id", "type", "status", "size", "duplicates", "would"};
  print_table(output, kColumns, listed.rows, "No such events.");
  return kDone;
}

}  // namespace

Command events_command() {
  auto given = std::make_shared<EventsArguments>();
  return {
      .name = "events",
      .help = "List events of a running server",
      .shared = {given->admin.options()},
      .options = {{"--source", &given->filter.source, "Filter by source"},
                  {"--tenant", &given->filter.tenant, "Filter by tenant"},
                  {"--status", &given->filter.status,
                   "pending, leased, completed, dead, superseded or cancelled"},
                  {"--type", &given->filter.type, "Filter by type"},
                  {"--id", &given->filter.id, "Filter by the sender's id"},
                  {"--order-key", &given->filter.order_key, "Filter by order key"},
                  {"--since", &given->filter.since,
                   "Received at or after (RFC 3339): 2025-10-09T08:53:20Z"},
                  {"--until", &given->filter.until, "Received before (RFC 3339)"},
                  {"--limit", &given->limit, "Maximum number", between(1, 1'000'000)}},
      .run = run_with(given, list_events),
  };
}

}  // namespace hapax::cli
