// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/inspect.hpp"

#include <string>

namespace hapax::store::postgres {

// As store::inspect.
Result<std::optional<StoreSummary>> inspect_url(const std::string& url, const OpenOptions& options,
                                                Random& random);

}  // namespace hapax::store::postgres
