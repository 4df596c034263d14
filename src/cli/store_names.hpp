// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "daemon/config.hpp"
#include "store/inspect.hpp"

#include <string>
#include <vector>

namespace hapax::cli {

// Sources and destinations are identified by name. Returns a sentence for each stored name that is
// not configured: it was renamed or removed, and its data is not processed.
std::vector<std::string> names_without_file(const store::StoreSummary& summary,
                                            const daemon::Config& config);

}  // namespace hapax::cli
