// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hapax::verify_detail {

// `text` in Unicode's NFKD form, for ASCII and Latin letters. Nothing for other scripts, for
// combining marks on their own, and for what is not UTF-8: a whole table would be a library.
std::optional<std::string> nfkd(std::string_view text);

}  // namespace hapax::verify_detail
