// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/driver.hpp"

#include <string>

namespace hapax::store::sqlite {

// Opens the store in the file at `path`. The clock must outlive it.
Result<Driver> open_driver(const std::string& path, const OpenOptions& options, Clock& clock);

// Upgrades the file's schema and returns its version.
Result<int> migrate_file(const std::string& path, const OpenOptions& options);

}  // namespace hapax::store::sqlite
