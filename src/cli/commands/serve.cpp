// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/try.hpp"
#include "cli/command.hpp"
#include "daemon/daemon.hpp"
#include "daemon/log.hpp"
#include "env/environment.hpp"

#include <signal.h>
#include <sys/stat.h>

#include <cstdio>
#include <memory>

namespace hapax::cli {

namespace {

struct ServeArguments {
  std::string config = "hapax.toml";
  bool log_json = false;
};

// Blocks the signals before any thread is started, so that only sigwait() receives them.
sigset_t block_signals() {
  sigset_t signals{};
  sigemptyset(&signals);
  for (const int each : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, each);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);  // NOLINT(cert-err33-c): there is nothing to do about a failure
  return signals;
}

std::optional<daemon::Config> load(const std::string& path, Log& log) {
  daemon::Loaded loaded = daemon::load_config(path, environment_variable);
  for (const daemon::Problem& each : loaded.warnings) {
    log.line(Level::warning, "configuration", {{"warning", each.to_string()}});
  }
  for (const daemon::Problem& each : loaded.problems) {
    log.line(Level::error, "configuration", {{"problem", each.to_string()}});
  }
  return std::move(loaded.config);
}

void reload(daemon::Daemon& daemon, const std::string& path, Log& log) {
  std::optional<daemon::Config> config = load(path, log);
  if (!config)
    return log.line(Level::error, "not reloaded; the previous configuration stays active", {});
  if (Result<void> done = daemon.reload(std::move(*config)); !done) {
    log.line(Level::error, "not reloaded; the previous configuration stays active",
             {{"error", done.error().to_string()}});
  }
}

Result<int> serve(const ServeArguments& arguments, const Output& output) {
  const sigset_t signals = block_signals();
  umask(0077);  // stored data must not be readable by others
  const std::unique_ptr<Clock> clock = make_system_clock();
  daemon::StderrLog log(*clock, arguments.log_json ? daemon::LogForm::json : daemon::LogForm::text);
  std::optional<daemon::Config> config = load(arguments.config, log);
  if (!config) return kFailed;
  HAPAX_TRY_ASSIGN(made, daemon::Daemon::make(std::move(*config), log));
  daemon::Daemon& daemon = *made;
  daemon.start();
  output.print(daemon.ready_line() + "\n");
  for (;;) {
    int got = 0;
    if (sigwait(&signals, &got) != 0) continue;
    if (got != SIGHUP) break;
    reload(daemon, arguments.config, log);
  }
  log.line(Level::info, "stopping", {});
  daemon.stop();
  return kDone;
}

}  // namespace

Command serve_command() {
  auto given = std::make_shared<ServeArguments>();
  return {
      .name = "serve",
      .help = "Run the server configured by hapax.toml",
      .options = {{"-c,--config", &given->config, "The configuration file"},
                  {"--log-json", &given->log_json, "Write the log as JSON, one object per line"}},
      .run = run_with(given, serve),
  };
}

}  // namespace hapax::cli
