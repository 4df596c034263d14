// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace hapax::cli {

// As a part of a URL or of a form: all but letters, digits and "-_." as %XX.
std::string percent_encoded(std::string_view text);

}  // namespace hapax::cli
