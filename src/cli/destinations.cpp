// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "cli/admin_client.hpp"
#include "cli/command.hpp"
#include "cli/pages.hpp"
#include "cli/percent.hpp"
#include "cli/table.hpp"

#include <CLI/CLI.hpp>

#include <array>

namespace hapax::cli {

namespace {

namespace json = boost::json;

struct DestinationsArguments {
  AdminArguments admin;
  std::string name;
};

int list_command(const DestinationsArguments& arguments, const Output& output) {
  Result<AdminClient> admin = AdminClient::make(arguments.admin);
  if (!admin) return output.fail(admin.error());
  const Result<json::value> answer = admin->get_json("/v1/destinations");
  if (!answer) return output.fail(answer.error());
  const json::array& rows = list_or_none(*answer, "destinations");
  if (rows.empty()) {
    output.answer_nothing("No destinations.");
    return kDone;
  }
  constexpr std::array<std::string_view, 11> kColumns{
      "name",         "kind",    "paused",    "pending",     "leased",    "dead",
      "oldest_age_s", "breaker", "under_way", "concurrency", "rate_per_s"};
  output.answer(as_table(kColumns, rows), in_json_lines(rows));
  return kDone;
}

int set_paused(const DestinationsArguments& arguments, const Output& output, bool paused) {
  Result<AdminClient> admin = AdminClient::make(arguments.admin);
  if (!admin) return output.fail(admin.error());
  const Result<json::value> answer = admin->post_json(
      "/v1/destinations/" + percent_encoded(arguments.name) + (paused ? "/pause" : "/resume"), "");
  if (!answer) return output.fail(answer.error());
  const std::string name = shown(*answer, "name");
  output.answer(paused ? name + " is paused: nothing more is leased until it is resumed."
                       : name + " goes on.",
                json::serialize(*answer));
  return kDone;
}

}  // namespace

void add_destinations(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "destinations", "List, pause and resume the destinations of a running server");
  auto arguments = std::make_shared<DestinationsArguments>();
  arguments->admin.add_to(*command);
  const auto add = [&](const char* word, const char* what, bool paused) {
    CLI::App* each = command->add_subcommand(word, what);
    each->fallthrough();
    each->add_option("name", arguments->name, "As 'hapax destinations' lists it")->required();
    each->callback([&action, arguments, paused] {
      action = [arguments, paused](const Output& output) {
        return set_paused(*arguments, output, paused);
      };
    });
  };
  add("pause", "Nothing of it is leased until it is resumed, also after a restart", true);
  add("resume", "Go on", false);
  command->callback([command, &action, arguments] {
    if (!command->get_subcommands().empty()) return;
    action = [arguments](const Output& output) { return list_command(*arguments, output); };
  });
}

}  // namespace hapax::cli
