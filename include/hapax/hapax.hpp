// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

// Includes all public headers except compliance.hpp.
#include <hapax/env.hpp>
#include <hapax/error.hpp>
#include <hapax/identify.hpp>
#include <hapax/once.hpp>
#include <hapax/outbox.hpp>
#include <hapax/postgres.hpp>
#include <hapax/scheme.hpp>
#include <hapax/sqlite.hpp>
#include <hapax/store.hpp>
#include <hapax/verify.hpp>

#include <string_view>

namespace hapax {

// "0.1.0": the version of the loaded library, not of the headers at compile time.
HAPAX_API std::string_view version() noexcept;

}  // namespace hapax
