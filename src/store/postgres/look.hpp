// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/look.hpp"

#include <string>

namespace hapax::store::postgres {

// As store::look_at.
Result<std::optional<Sight>> look_at_url(const std::string& url, const OpenOptions& options,
                                         Random& random);

}  // namespace hapax::store::postgres
