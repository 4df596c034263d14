// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "cli/output.hpp"
#include "cli/send_load.hpp"

#include <string>

namespace hapax::cli {

std::string progress_line(const Tally& tally, std::uint64_t count);

// Says what came of it and returns the exit code: all were accepted or known, or not.
int summarize(const Tally& tally, const Output& output);
// The same for a single event: what the server said to it.
int say_answer(const Tally& tally, const Output& output);

}  // namespace hapax::cli
