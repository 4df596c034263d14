// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "cli/command.hpp"

#include <hapax/hapax.hpp>

namespace hapax::cli {

namespace {

int print_version(const Output& output) {
  const std::string version(hapax::version());
  output.answer_word("hapax " + version, "{\"version\":" + json_string(version) + "}");
  return kDone;
}

}  // namespace

Command version_command() {
  return {.name = "version", .help = "Print the version of this binary", .run = print_version};
}

}  // namespace hapax::cli
