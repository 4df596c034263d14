// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hapax {

std::string to_hex(std::string_view bytes);
// Nothing when it is not pairs of hexadecimal digits.
std::optional<std::string> from_hex(std::string_view hex);

}  // namespace hapax
