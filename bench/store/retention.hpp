// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "bench/store/postgres.hpp"

#include <cstddef>
#include <iosfwd>

namespace hapax::bench {

// Database time of retention on PostgreSQL: of a pass over so many events, attempts and claims of
// which nothing can be removed, and of steps through as many claims of two different `remember`, of
// which half are over; each beside the functions of migration 0006, which are still there. Prints a
// line for each. Throws as the rest of postgres.hpp.
void measure_retention(PostgresPlace& place, std::size_t events, std::size_t claims,
                       std::ostream& out);

}  // namespace hapax::bench
