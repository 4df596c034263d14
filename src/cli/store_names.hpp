// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "daemon/config.hpp"
#include "store/inspect.hpp"

#include <string>
#include <vector>

namespace hapax::cli {

// Names are identity: one that the store knows and the file lacks was renamed or taken out, and
// what is stored under it waits. A sentence for each.
std::vector<std::string> names_without_file(const store::StoreSummary& summary,
                                            const daemon::Config& config);

}  // namespace hapax::cli
