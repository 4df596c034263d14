// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "daemon/config.hpp"

#include <string>
#include <string_view>

namespace hapax::daemon {

// load_config() for a file that was already read. `mode` is its mode from stat(2).
Loaded load_config_text(std::string_view text, const std::string& path, unsigned mode,
                        const Variable& variable);

}  // namespace hapax::daemon
