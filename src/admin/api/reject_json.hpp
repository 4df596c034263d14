// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "admin/json_object.hpp"
#include "admin/names.hpp"
#include "store/rejects.hpp"

namespace hapax::admin {

// The members common to the list and the detail of rejects.
JsonObject reject_json(const store::RejectRow& row, const Names& sources);

}  // namespace hapax::admin
