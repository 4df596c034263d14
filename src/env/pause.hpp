// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>

namespace hapax {

// Blocks the calling thread. For store threads between retries; never for I/O threads.
void pause(BootTime length);

}  // namespace hapax
