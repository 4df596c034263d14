// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "cli/interrupted.hpp"

#include <csignal>

namespace hapax::cli {

namespace {

// A signal handler may only access volatile sig_atomic_t variables.
volatile std::sig_atomic_t came = 0;  // NOLINT

void note(int) {
  came = 1;
}

}  // namespace

bool interrupted() {
  static const bool installed = [] {
    struct sigaction action {};
    action.sa_handler = note;  // without SA_RESTART, so that blocking calls return
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    return true;
  }();
  return installed && came != 0;
}

}  // namespace hapax::cli
