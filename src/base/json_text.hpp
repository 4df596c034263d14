// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace hapax {

// `text` as a JSON string, quotes included. Bytes that are not UTF-8 come out as \u00XX; so do
// characters that a terminal would obey (is_command()), for the log is read on one.
void append_json(std::string& out, std::string_view text);
std::string json_string(std::string_view text);

}  // namespace hapax
