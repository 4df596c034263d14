// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/export.hpp>

#include <string_view>

namespace hapax {

// "0.1.0": of the library that runs, not of the headers it was compiled with.
HAPAX_API std::string_view version() noexcept;

}  // namespace hapax
