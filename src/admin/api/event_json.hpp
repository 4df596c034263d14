// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/verify.hpp>

#include "admin/json_object.hpp"
#include "admin/names.hpp"
#include "store/catalog.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace hapax::admin {

// The members common to the list and the detail of events.
JsonObject event_json(const store::EventRow& row, const Names& sources);

// [["name","value"]] from the output of encode_headers().
std::string headers_json(std::string_view encoded);
std::string headers_json(const std::vector<Header>& headers);

}  // namespace hapax::admin
