// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/driver.hpp"

namespace hapax::store::memory {

inline constexpr std::size_t kMaxBytes = std::size_t{1} << 30;

// An in-process store, for tests and as the model of the others. It holds at most `max_ids` ids of
// dedup and as many of events, and about `max_bytes` of events; if all of them are still needed,
// the next one is store_full.
Driver make_driver(std::size_t max_ids, Clock& clock, std::size_t max_bytes = kMaxBytes);

}  // namespace hapax::store::memory
