// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "cli/admin_client.hpp"
#include "cli/command.hpp"
#include "cli/percent.hpp"

#include <CLI/CLI.hpp>

namespace hapax::cli {

namespace {

namespace json = boost::json;

struct ShowArguments {
  AdminArguments admin;
  std::string event;
  bool body = false;
};

const json::array& list_of(const json::value& event, std::string_view member) {
  static const json::array none;
  const json::value* found = event.is_object() ? event.get_object().if_contains(member) : nullptr;
  return found != nullptr && found->is_array() ? found->get_array() : none;
}

void add_line(std::string& text, std::string_view label, const std::string& value) {
  constexpr std::size_t kWidth = 12;
  if (value.empty()) return;
  text += std::string(label) + std::string(kWidth - label.size(), ' ') + value + "\n";
}

void add_headers(std::string& text, const json::value& event) {
  const json::array& headers = list_of(event, "headers");
  if (!headers.empty()) text += "headers\n";
  for (const json::value& each : headers) {
    if (!each.is_array() || each.get_array().size() != 2) continue;
    const json::value& name = each.get_array()[0];
    const json::value& value = each.get_array()[1];
    if (!name.is_string() || !value.is_string()) continue;
    text += "  " + without_controls({name.get_string().data(), name.get_string().size()}) + ": " +
            without_controls({value.get_string().data(), value.get_string().size()}) + "\n";
  }
}

// "  d1  to work  completed  attempts 1": a line per object, with the members that are there.
void add_list(std::string& text, std::string_view title, const json::array& list) {
  if (list.empty()) return;
  text += std::string(title) + "\n";
  for (const json::value& each : list) {
    if (!each.is_object()) continue;
    text += " ";
    for (const auto& member : each.get_object()) {
      const std::string value = shown(each, {member.key().data(), member.key().size()});
      if (value.empty()) continue;
      text += " " + without_controls({member.key().data(), member.key().size()}) + " " + value;
    }
    text += "\n";
  }
}

std::string in_lines(const json::value& event) {
  std::string text;
  for (const std::string_view each :
       {"event", "source", "tenant", "id", "type", "order_key", "version", "received_at", "status",
        "size", "sha256", "duplicates", "would"}) {
    add_line(text, each, shown(event, each));
  }
  add_headers(text, event);
  add_list(text, "deliveries", list_of(event, "deliveries"));
  add_list(text, "attempts", list_of(event, "attempts"));
  add_list(text, "changed bodies under the same id", list_of(event, "variants"));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

int show_body(AdminClient& admin, const std::string& target, const Output& output) {
  const Result<std::string> body = admin.get(target + "/body");
  if (!body) return output.fail(body.error());
  output.print(*body);
  return kDone;
}

int show_command(const ShowArguments& arguments, const Output& output) {
  Result<AdminClient> admin = AdminClient::make(arguments.admin);
  if (!admin) return output.fail(admin.error());
  const std::string target = "/v1/events/" + percent_encoded(arguments.event);
  if (arguments.body) return show_body(*admin, target, output);
  const Result<json::value> event = admin->get_json(target);
  if (!event) return output.fail(event.error());
  output.answer(in_lines(*event), json::serialize(*event));
  return kDone;
}

}  // namespace

void add_show(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("show", "Show one event of a running server");
  auto arguments = std::make_shared<ShowArguments>();
  arguments->admin.add_to(*command);
  command->add_option("event", arguments->event, "The event, as 'hapax events' lists it")
      ->required();
  command->add_flag("--body", arguments->body, "Write its bytes, as they came, and nothing else");
  command->callback([&action, arguments] {
    action = [arguments](const Output& output) { return show_command(*arguments, output); };
  });
}

}  // namespace hapax::cli
