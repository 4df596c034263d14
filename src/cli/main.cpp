// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "cli/command.hpp"

#include <exception>
#include <iostream>

namespace {

using namespace hapax::cli;

Command hapax_command(bool& json) {
  return {
      .name = "hapax",
      .help = "hapax makes at-least-once delivery take effect exactly once.",
      .options = {{"--json", &json,
                   "Print JSON, one object per line (default when not on a terminal)"}},
      .subcommands =
          {
              check_command(),   dedup_command(),     destinations_command(), doctor_command(),
              events_command(),  handshake_command(), init_command(),         listen_command(),
              migrate_command(), presets_command(),   purge_command(),        replay_command(),
              rejects_command(), send_command(),      serve_command(),        show_command(),
              sign_command(),    verify_command(),    version_command(),
          },
  };
}

int run(int argc, char** argv) {
  bool json = false;
  const Command program = hapax_command(json);
  const Parsed parsed = parse(program, argc, argv);
  const Output output(json);
  if (parsed.command != nullptr) {
    const hapax::Result<int> code = parsed.command->run(output);
    return code ? *code : output.fail(code.error());
  }
  if (parsed.wants_help) {
    output.print(parsed.text);
    return kDone;
  }
  return output.wrong_usage(parsed.text + "\nRun 'hapax --help' or 'hapax COMMAND --help'.");
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
