// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "daemon/config_tree.hpp"

// Warnings about valid but risky configurations.
namespace hapax::daemon {

// `root` is the file that `config` was read from without problems.
void warn_of(const Node& root, const Config& config, Report& report);

}  // namespace hapax::daemon
