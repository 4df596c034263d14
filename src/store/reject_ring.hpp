// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/rejects.hpp"

#include <string>
#include <vector>

namespace hapax::store {

struct RetainedReject {
  RejectNo no;
  std::string address;
  std::size_t size = 0;
};

// Selects the rejects of one source to evict, oldest first: see RejectRing. For stores that keep
// the ring in C++; a PostgreSQL function does the same in SQL.
std::vector<RejectNo> choose_evicted(std::vector<RetainedReject> held, const RejectRing& ring);

}  // namespace hapax::store
