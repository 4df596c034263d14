// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>

namespace hapax::test {

// The number of allocations of this program. support/allocations.cpp replaces operator new, so link
// it into a separate test program.
extern std::atomic<int> allocations;

}  // namespace hapax::test
