// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "cli/command.hpp"

#include <CLI/CLI.hpp>

#include <exception>
#include <iostream>

namespace {

int run(int argc, char** argv) {
  using namespace hapax::cli;
  CLI::App app("hapax makes at-least-once delivery take effect exactly once.", "hapax");
  app.require_subcommand(1);
  app.fallthrough();
  bool json = false;
  app.add_flag("--json", json, "Print JSON, one object per line (also when not on a terminal)");

  Action action;
  add_check(app, action);
  add_dedup(app, action);
  add_destinations(app, action);
  add_doctor(app, action);
  add_events(app, action);
  add_handshake(app, action);
  add_init(app, action);
  add_listen(app, action);
  add_migrate(app, action);
  add_presets(app, action);
  add_purge(app, action);
  add_replay(app, action);
  add_rejects(app, action);
  add_send(app, action);
  add_serve(app, action);
  add_show(app, action);
  add_sign(app, action);
  add_verify(app, action);
  add_version(app, action);

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help
    app.exit(asked);
    return kDone;
  } catch (const CLI::ParseError& wrong) {
    std::cerr << "hapax: " << wrong.what() << "\nRun 'hapax --help' or 'hapax COMMAND --help'.\n";
    return kUsage;
  }
  return action(Output(json));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& failure) {
    std::cerr << "hapax: " << failure.what() << '\n';
    return hapax::cli::kFailed;
  }
}
