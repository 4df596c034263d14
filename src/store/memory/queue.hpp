// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/memory/tables.hpp"

namespace hapax::store::memory {

Lease lease(Tables& tables, const LeaseRequest& request, std::int64_t now);
Settled settle(Tables& tables, const Settlement& settlement, std::int64_t now);
Released release_holder(Tables& tables, const ReleaseStep& step, std::int64_t now);

}  // namespace hapax::store::memory
