// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace hapax {

// `text` as a JSON string, quotes included. Bytes that are not UTF-8 become \u00XX. Characters that
// a terminal would interpret (is_command()) are escaped too, because logs are read in terminals.
void append_json(std::string& out, std::string_view text);
std::string json_string(std::string_view text);

}  // namespace hapax
