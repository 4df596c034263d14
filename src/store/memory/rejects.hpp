// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/memory/tables.hpp"

// The ring of rejects.
namespace hapax::store::memory {

std::size_t add_rejects(Tables& tables, const RejectBatch& batch);
RejectPage rejects(const Tables& tables, const RejectQuery& query);
std::vector<RejectCounts> reject_counts(const Tables& tables);

}  // namespace hapax::store::memory
