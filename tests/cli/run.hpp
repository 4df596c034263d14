// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "support/sanitizer.hpp"

#include <sys/wait.h>

#include <cstdio>
#include <string>

namespace hapax::test {

struct Ran {
  int exit_code;
  std::string out;  // standard output and standard error
};

// Runs the real binary. A shell interprets `arguments`.
inline Ran hapax(const std::string& arguments) {
  const std::string command = std::string(HAPAX_BINARY) + " " + arguments + " 2>&1";
  std::FILE* pipe = popen(command.c_str(), "r");
  std::string out;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) out += static_cast<char>(c);
  const int status = pclose(pipe);
  expect_no_report(out);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, out};
}

}  // namespace hapax::test
