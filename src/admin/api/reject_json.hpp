// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "admin/json_object.hpp"
#include "admin/names.hpp"
#include "store/inbox_rows.hpp"

namespace hapax::admin {

// The members that a list and the detail of a reject have in common.
JsonObject reject_json(const store::RejectRow& row, const Names& sources);

}  // namespace hapax::admin
