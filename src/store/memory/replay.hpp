// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/memory/tables.hpp"

namespace hapax::store::memory {

Cancelled cancel(Tables& tables, const DeliveryRef& which, std::int64_t now);
Replayed replay(Tables& tables, const Replay& what, std::int64_t now);
Replaying replay_step(Tables& tables, const ReplayStep& step, std::int64_t now);

}  // namespace hapax::store::memory
