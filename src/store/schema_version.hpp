// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/error.hpp>

namespace hapax::store {

// Rejects a database written by a newer hapax.
Result<void> refuse_newer(int version, int known);
// Also rejects an older one, for callers that may not migrate.
Result<void> require_current(int version, int known);

}  // namespace hapax::store
