// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/contract.hpp"

#include <memory>

namespace hapax::store::memory {

// A store that lives as long as the process, for tests and as the model of the others. It holds
// `max_ids` at most; when all of them are still claimed the next one is store_full.
std::unique_ptr<Driver> make_driver(std::size_t max_ids, Clock& clock);

}  // namespace hapax::store::memory
