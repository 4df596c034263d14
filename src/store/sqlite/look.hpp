// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/look.hpp"

#include <string>

namespace hapax::store::sqlite {

// As store::look_at.
Result<std::optional<Sight>> look_at_file(const std::string& path, const OpenOptions& options,
                                          Clock& clock);

}  // namespace hapax::store::sqlite
