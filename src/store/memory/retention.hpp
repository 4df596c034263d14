// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/memory/tables.hpp"

namespace hapax::store::memory {

Swept sweep(Tables& tables, const SweepStep& step, std::int64_t now);

}  // namespace hapax::store::memory
