// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

/// @mainpage
/// | header         | for                                                          |
/// |----------------|--------------------------------------------------------------|
/// | hapax.hpp      | all of these except compliance.hpp, and the version          |
/// | store.hpp      | stores: claim an id once, durably                            |
/// | once.hpp       | run work once, in a transaction of yours                     |
/// | outbox.hpp     | messages that are sent if and only if that commits           |
/// | sqlite.hpp     | transactions for both on your sqlite3*                       |
/// | postgres.hpp   | transactions for both on your PGconn*                        |
/// | verify.hpp     | verify, sign and explain signatures of webhooks              |
/// | identify.hpp   | the ids of the events in a request                           |
/// | scheme.hpp     | describe how a provider signs and identifies, for presets    |
/// | error.hpp      | Error, Result                                                |
/// | env.hpp        | time and randomness, for tests                               |
/// | compliance.hpp | tests for custom stores; needs GoogleTest                    |

/// @file
/// All headers except compliance.hpp, and the version.
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

/// "0.1.0": the version of the loaded library, not of the headers at compile time. Before 1.0 a new
/// minor version may change the API. Valid forever.
HAPAX_API std::string_view version() noexcept;

}  // namespace hapax
