// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/try.hpp"
#include "cli/admin_client.hpp"
#include "cli/command.hpp"
#include "cli/percent.hpp"
#include "cli/table.hpp"

#include <array>

namespace hapax::cli {

namespace {

namespace json = boost::json;

struct DestinationsArguments {
  AdminArguments admin;
  std::string name;
};

Result<int> list_destinations(const DestinationsArguments& arguments, const Output& output) {
  HAPAX_TRY_ASSIGN(admin, AdminClient::make(arguments.admin));
  HAPAX_TRY_ASSIGN(answer, admin.get_json("/v1/destinations"));
  constexpr std::array<std::string_view, 11> kColumns{
      "name",         "kind",    "paused",    "pending",     "leased",    "dead",
      "oldest_age_s", "breaker", "under_way", "concurrency", "rate_per_s"};
  print_table(output, kColumns, list_or_none(answer, "destinations"), "No destinations.");
  return kDone;
}

Result<int> set_paused(const DestinationsArguments& arguments, const Output& output, bool paused) {
  HAPAX_TRY_ASSIGN(admin, AdminClient::make(arguments.admin));
  const std::string target = "/v1/destinations/" + percent_encoded(arguments.name);
  HAPAX_TRY_ASSIGN(answer, admin.post_json(target + (paused ? "/pause" : "/resume"), ""));
  const std::string name = member_text(answer, "name");
  output.answer(paused ? name + " is paused: no deliveries are leased until it is resumed."
                       : name + " is resumed.",
                json::serialize(answer));
  return kDone;
}

Result<int> pause_destination(const DestinationsArguments& arguments, const Output& output) {
  return set_paused(arguments, output, true);
}

Result<int> resume_destination(const DestinationsArguments& arguments, const Output& output) {
  return set_paused(arguments, output, false);
}

}  // namespace

Command destinations_command() {
  auto given = std::make_shared<DestinationsArguments>();
  const Option name{"name", &given->name, "Name of the destination", kRequired};
  return {
      .name = "destinations",
      .help = "List, pause and resume the destinations of a running server",
      .shared = {given->admin.options()},
      .run = run_with(given, list_destinations),
      .subcommands = {{.name = "pause",
                       .help = "Stop leasing until resumed, across restarts",
                       .options = {name},
                       .run = run_with(given, pause_destination)},
                      {.name = "resume",
                       .help = "Resume leasing",
                       .options = {name},
                       .run = run_with(given, resume_destination)}},
  };
}

}  // namespace hapax::cli
