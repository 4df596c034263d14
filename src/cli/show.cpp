// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "cli/admin_client.hpp"
#include "cli/command.hpp"
#include "cli/percent.hpp"
#include "cli/text_layout.hpp"

namespace hapax::cli {

namespace {

namespace json = boost::json;

struct ShowArguments {
  AdminArguments admin;
  std::string event;
  bool body = false;
};

// "  d1  to work  completed  attempts 1": a line per object, with the members that are there.
void add_list(std::string& text, std::string_view title, const json::array& list) {
  if (list.empty()) return;
  text += std::string(title) + "\n";
  for (const json::value& each : list) {
    if (!each.is_object()) continue;
    text += " ";
    for (const auto& member : each.get_object()) {
      const std::string value = member_text(each, {member.key().data(), member.key().size()});
      if (value.empty()) continue;
      text += " " + without_controls({member.key().data(), member.key().size()}) + " " + value;
    }
    text += "\n";
  }
}

std::string event_in_lines(const json::value& event) {
  constexpr std::size_t kWidth = 12;
  std::string text;
  for (const std::string_view each :
       {"event", "source", "tenant", "id", "type", "order_key", "version", "received_at", "status",
        "size", "sha256", "duplicates", "would"}) {
    add_line(text, kWidth, each, member_text(event, each));
  }
  add_headers(text, event);
  add_list(text, "deliveries", list_or_none(event, "deliveries"));
  add_list(text, "attempts", list_or_none(event, "attempts"));
  add_list(text, "changed bodies under the same id", list_or_none(event, "variants"));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

Result<int> show_event(const ShowArguments& arguments, const Output& output) {
  return print_record(arguments.admin, "/v1/events/" + percent_encoded(arguments.event),
                      arguments.body, event_in_lines, output);
}

}  // namespace

Command show_command() {
  auto given = std::make_shared<ShowArguments>();
  return {
      .name = "show",
      .help = "Show one event of a running server",
      .shared = {given->admin.options()},
      .options = {{"event", &given->event, "The event, as 'hapax events' lists it", kRequired},
                  {"--body", &given->body, "Write its bytes, as they came, and nothing else"}},
      .run = run_with(given, show_event),
  };
}

}  // namespace hapax::cli
