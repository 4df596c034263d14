// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/inspect.hpp"

#include <string>

namespace hapax::store::sqlite {

// As store::inspect.
Result<std::optional<StoreSummary>> inspect_file(const std::string& path,
                                                 const OpenOptions& options, Clock& clock);

}  // namespace hapax::store::sqlite
