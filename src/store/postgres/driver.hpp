// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/driver.hpp"

#include <string>

namespace hapax::store::postgres {

// misconfigured: the URL cannot be parsed. The error omits libpq's message, which may quote the
// password.
Result<void> check_url(const std::string& url);

// Opens the store behind `url`. `random` must outlive it; so must the clock of `options`, if set.
Result<Driver> open_driver(const std::string& url, const OpenOptions& options, Random& random);

// Upgrades the schema and returns its version.
Result<int> migrate_url(const std::string& url, const OpenOptions& options);

}  // namespace hapax::store::postgres
