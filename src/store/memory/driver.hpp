// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/contract.hpp"

#include <memory>

namespace hapax::store::memory {

inline constexpr std::size_t kMaxBytes = std::size_t{1} << 30;

// A store that lives as long as the process, for tests and as the model of the others. It holds
// `max_ids` ids of dedup and as many of events at most, and about `max_bytes` of events; when all
// of them are still needed the next one is store_full.
std::unique_ptr<Driver> make_driver(std::size_t max_ids, Clock& clock,
                                    std::size_t max_bytes = kMaxBytes);

}  // namespace hapax::store::memory
