// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/duration.hpp"
#include "base/try.hpp"
#include "cli/admin_client.hpp"
#include "cli/command.hpp"
#include "cli/findings.hpp"
#include "env/environment.hpp"

#include <memory>

namespace hapax::cli {

namespace {

struct DoctorArguments {
  AdminArguments admin;
  std::string silent = "24h";
};

std::string_view word(Finding::Level level) {
  switch (level) {
    case Finding::Level::ok:
      return "ok";
    case Finding::Level::warning:
      return "warning";
    case Finding::Level::problem:
      break;
  }
  return "problem";
}

// What only a running server knows. One that does not run is no problem of the machine's.
void ask_server(const AdminArguments& arguments, Findings& findings) {
  Result<AdminClient> admin = AdminClient::make(arguments);
  if (!admin) return findings.warning("server", "not asked: " + admin.error().detail());
  const Result<boost::json::value> sources = admin->get_json("/v1/sources");
  if (!sources) {
    return findings.warning("server", "does not answer, so the use of secrets is not known: " +
                                          sources.error().detail());
  }
  findings.ok("server", "runs and answers");
  look_at_secrets(*sources, findings);
}

void look_at_file_itself(const daemon::Loaded& loaded, const std::string& path,
                         Findings& findings) {
  for (const daemon::Problem& each : loaded.problems) findings.problem("file", each.to_string());
  for (const daemon::Problem& each : loaded.warnings) findings.warning("file", each.to_string());
  if (loaded.config) findings.ok("file", path + " is good");
}

int tell(const Findings& findings, const Output& output) {
  std::string sentences;
  std::string json;
  std::size_t warnings = 0;
  std::size_t problems = 0;
  for (const Finding& each : findings.list()) {
    warnings += each.level == Finding::Level::warning ? 1 : 0;
    problems += each.level == Finding::Level::problem ? 1 : 0;
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
  Findings findings;
  look_at_file_itself(loaded, path, findings);
  if (loaded.config) {
    const std::unique_ptr<Clock> clock = make_system_clock();
    look_at_observe(*loaded.config, findings);
    look_at_permissions(path, *loaded.config, findings);
    look_at_sync(*loaded.config, *clock, findings);
    look_at_store(*loaded.config, *clock, silent, findings);
    ask_server(arguments.admin, findings);
  }
  return tell(findings, output);
}

}  // namespace

Command doctor_command() {
  auto given = std::make_shared<DoctorArguments>();
  return {
      .name = "doctor",
      .help =
          "Look at the store, the disk, the clock and the secrets of a server, and say what is "
          "wrong",
      .shared = {given->admin.options()},
      .options = {{"--silent", &given->silent, "A source that sent nothing for so long is named"}},
      .run = run_with(given, examine_server),
  };
}

}  // namespace hapax::cli
