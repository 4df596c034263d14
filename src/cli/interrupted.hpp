// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

namespace hapax::cli {

// Whether SIGINT (Ctrl-C) or SIGTERM was received. From the first call on, these signals no longer
// terminate the process.
bool interrupted();

}  // namespace hapax::cli
