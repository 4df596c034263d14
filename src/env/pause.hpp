// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>

namespace hapax {

// The calling thread does nothing for that long. For store threads between two tries; never for one
// that serves connections.
void pause(BootTime length);

}  // namespace hapax
