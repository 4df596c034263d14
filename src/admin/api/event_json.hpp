// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "admin/json_object.hpp"
#include "admin/names.hpp"
#include "store/inbox_rows.hpp"

namespace hapax::admin {

// The members that a list and the detail of an event have in common.
JsonObject event_json(const store::EventRow& row, const Names& sources);

}  // namespace hapax::admin
