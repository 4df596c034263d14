// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/duration.hpp"
#include "base/try.hpp"
#include "cli/admin_client.hpp"
#include "cli/command.hpp"
#include "cli/diagnostics.hpp"
#include "env/environment.hpp"

#include <memory>

namespace hapax::cli {

namespace {

struct DoctorArguments {
  AdminArguments admin;
  std::string silent = "24h";
};

std::string_view word(Diagnostic::Level level) {
  switch (level) {
    case Diagnostic::Level::ok:
      return "ok";
    case Diagnostic::Level::warning:
      return "warning";
    case Diagnostic::Level::problem:
      break;
  }
  return "problem";
}

// Runs the checks that require a running server. A stopped server is a warning, not a problem.
void ask_server(const AdminArguments& arguments, Diagnostics& diagnostics) {
  Result<AdminClient> admin = AdminClient::make(arguments);
  if (!admin) return diagnostics.warning("server", "not queried: " + admin.error().detail());
  const Result<boost::json::value> sources = admin->get_json("/v1/sources");
  if (!sources) {
    return diagnostics.warning("server", "does not respond, so the use of secrets is unknown: " +
                                             sources.error().detail());
  }
  diagnostics.ok("server", "is running and responds");
  check_secrets(*sources, diagnostics);
}

void check_file_itself(const daemon::Loaded& loaded, const std::string& path,
                       Diagnostics& diagnostics) {
  for (const daemon::Problem& each : loaded.problems) diagnostics.problem("file", each.to_string());
  for (const daemon::Problem& each : loaded.warnings) diagnostics.warning("file", each.to_string());
  if (loaded.config) diagnostics.ok("file", path + " is valid");
}

int tell(const Diagnostics& diagnostics, const Output& output) {
  std::string sentences;
  std::string json;
  std::size_t warnings = 0;
  std::size_t problems = 0;
  for (const Diagnostic& each : diagnostics.list()) {
    warnings += each.level == Diagnostic::Level::warning ? 1 : 0;
    problems += each.level == Diagnostic::Level::problem ? 1 : 0;
    std::string start(word(each.level));
    start.resize(9, ' ');
    sentences += start + std::string(each.check) + ": " + each.text + "\n";
    json += (json.empty() ? "{\"level\":" : ",{\"level\":") + json_string(word(each.level)) +
            ",\"check\":" + json_string(each.check) + ",\"text\":" + json_string(each.text) + "}";
  }
  const std::string sum =
      std::to_string(problems) + " problems, " + std::to_string(warnings) + " warnings";
  output.answer(sentences + sum, std::string("{\"ok\":") + (problems == 0 ? "true" : "false") +
                                     ",\"findings\":[" + json + "]}");
  return problems == 0 ? kDone : kFailed;
}

Result<int> examine_server(const DoctorArguments& arguments, const Output& output) {
  HAPAX_TRY_ASSIGN(silent, parse_duration(arguments.silent));
  const std::string& path = arguments.admin.config;
  const daemon::Loaded loaded = daemon::load_config(path, environment_variable);
  Diagnostics diagnostics;
  check_file_itself(loaded, path, diagnostics);
  if (loaded.config) {
    const std::unique_ptr<Clock> clock = make_system_clock();
    check_observe(*loaded.config, diagnostics);
    check_permissions(path, *loaded.config, diagnostics);
    check_sync(*loaded.config, *clock, diagnostics);
    check_store(*loaded.config, *clock, silent, diagnostics);
    ask_server(arguments.admin, diagnostics);
  }
  return tell(diagnostics, output);
}

}  // namespace

Command doctor_command() {
  auto given = std::make_shared<DoctorArguments>();
  return {
      .name = "doctor",
      .help = "Check the store, disk, clock and secrets of a server",
      .shared = {given->admin.options()},
      .options = {{"--silent", &given->silent, "Report sources without events for this long"}},
      .run = run_with(given, examine_server),
  };
}

}  // namespace hapax::cli
