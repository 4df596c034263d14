// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

namespace hapax::cli {

// From the first call on, SIGINT (Ctrl-C) and SIGTERM do not end the process; whether one came.
bool interrupted();

}  // namespace hapax::cli
