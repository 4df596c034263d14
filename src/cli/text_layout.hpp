// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "cli/admin_client.hpp"
#include "cli/output.hpp"

#include <boost/json.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace hapax::cli {

// Appends a line with the label, padded to `width`, and the value. Appends nothing if the value is
// empty.
void add_line(std::string& text, std::size_t width, std::string_view label,
              const std::string& value);

// Appends the headers of an event or reject under a heading.
void add_headers(std::string& text, const boost::json::value& object);

// Prints the event or reject at `target` of the admin API, on a terminal as formatted by
// `in_lines`. With `body`, prints only the bytes of its body.
Result<int> print_record(const AdminArguments& arguments, const std::string& target, bool body,
                         std::string (*in_lines)(const boost::json::value&), const Output& output);

}  // namespace hapax::cli
