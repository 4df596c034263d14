// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hapax::verify_detail {

// `text` in Unicode's NFKD form. Covers ASCII and Latin letters, because the complete table would
// require a library. nullopt for other scripts, standalone combining marks and invalid UTF-8.
std::optional<std::string> nfkd(std::string_view text);

}  // namespace hapax::verify_detail
