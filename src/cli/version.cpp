// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "cli/command.hpp"

#include <hapax/version.hpp>

#include <CLI/CLI.hpp>

namespace hapax::cli {

void add_version(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("version", "Print the version of this binary");
  command->callback([&action] {
    action = [](const Output& output) {
      const std::string version(hapax::version());
      output.answer_word("hapax " + version, "{\"version\":" + json_string(version) + "}");
      return kDone;
    };
  });
}

}  // namespace hapax::cli
