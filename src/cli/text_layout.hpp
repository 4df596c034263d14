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

// "source      stripe": the label, filled up to `width`, and the value. None where there is none.
void add_line(std::string& text, std::size_t width, std::string_view label,
              const std::string& value);

// The headers of an event or a reject, below a line that says so.
void add_headers(std::string& text, const boost::json::value& object);

// Prints the event or the reject at `target` of the admin API, to a person as `in_lines` says; with
// `body` nothing but the bytes of its body.
Result<int> print_record(const AdminArguments& arguments, const std::string& target, bool body,
                         std::string (*in_lines)(const boost::json::value&), const Output& output);

}  // namespace hapax::cli
