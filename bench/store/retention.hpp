// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "bench/store/postgres.hpp"

#include <cstddef>
#include <iosfwd>

namespace hapax::bench {

// Measures the database time of retention on PostgreSQL: of a pass over `events` events, attempts
// and claims of which none can be removed, and of the steps through `claims` claims with two
// different `remember`, of which a twentieth has expired. Both are compared with the functions of
// migration 0006, which still exist. Prints a line for each. Throws like the rest of postgres.hpp.
void measure_retention(PostgresPlace& place, std::size_t events, std::size_t claims,
                       std::ostream& out);

}  // namespace hapax::bench
