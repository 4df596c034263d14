// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

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

}  // namespace hapax::cli
