// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/export.hpp>

#include <string_view>

namespace hapax {

// "0.1.0": the version of the loaded library, not of the headers at compile time.
HAPAX_API std::string_view version() noexcept;

}  // namespace hapax
