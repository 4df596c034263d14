// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "cli/output.hpp"
#include "cli/send_load.hpp"

#include <string>

namespace hapax::cli {

std::string progress_line(const Tally& tally, std::uint64_t count);

// Prints the totals. Returns the exit code: kDone if all were accepted or duplicates.
int summarize(const Tally& tally, const Output& output);
// The same for a single event, with the server's answer.
int say_answer(const Tally& tally, const Output& output);

}  // namespace hapax::cli
