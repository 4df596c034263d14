// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "admin/config_view.hpp"
#include "daemon/config.hpp"
#include "gateway/endpoint.hpp"
#include "gateway/handshake.hpp"
#include "gateway/metrics.hpp"
#include "store/catalog.hpp"
#include "store/queue.hpp"

#include <memory>
#include <vector>

// Builds the served sources and destinations from a configuration.
namespace hapax::daemon {

// Moves the sources out of `from`. `before` are the sources served until now, or null.
Result<std::shared_ptr<const gateway::Sources>> sources_of(Config& from,
                                                           const gateway::Sources* before,
                                                           store::Catalog& catalog,
                                                           gateway::Handshakes& handshakes,
                                                           gateway::Metrics& metrics);

// Also sets the numbers of the destinations of `from`.
Result<std::shared_ptr<const admin::ConfigView>> config_view_of(Config& from,
                                                                const gateway::Sources& sources,
                                                                store::Catalog& catalog);

// The retention of each source.
std::vector<store::Periods> periods_of(const gateway::Sources& sources);

}  // namespace hapax::daemon
