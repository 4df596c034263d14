// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "admin/json_object.hpp"
#include "admin/names.hpp"
#include "store/inbox_rows.hpp"

#include <string>
#include <string_view>

namespace hapax::admin {

// The members that a list and the detail of an event have in common.
JsonObject event_json(const store::EventRow& row, const Names& sources);

// [["name","value"]] of what encode_headers() made.
std::string headers_json(std::string_view encoded);

}  // namespace hapax::admin
