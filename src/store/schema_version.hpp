// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/result.hpp>

namespace hapax::store {

// A database that a newer hapax has written is refused.
Result<void> refuse_newer(int version, int known);
// ... and so is, where nothing may be migrated, any that is not the known one.
Result<void> require_current(int version, int known);

}  // namespace hapax::store
