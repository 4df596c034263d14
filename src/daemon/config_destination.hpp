// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "daemon/config_values.hpp"
#include "deliver/destination.hpp"

// The [[destination]]s of a configuration.
namespace hapax::daemon {

// Reads everything but the name. Problems go to the report.
deliver::Destination read_destination(const Node& table, Loading& loading);

}  // namespace hapax::daemon
