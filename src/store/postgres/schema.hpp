// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/postgres/executor.hpp"

#include <span>
#include <string_view>

namespace hapax::store::postgres {

// migrations/*.sql in their order, embedded by the build. Forward only.
std::span<const std::string_view> migrations();

// Brings the schema `hapax` to the version this binary knows, in one transaction; several nodes may
// do it at once. No transaction may be in progress, unless the schema is current. Refuses a schema
// that is newer. Returns the version.
Result<int> migrate(Executor& executor);

Result<int> version_of(Executor& executor);  // 0 when there is none

// Says what migrate() would have to do, as an error: a schema that is missing, older or newer.
Result<void> check_schema(Executor& executor);

// Whether this user can keep events: their days are made and dropped on the way, which only the
// owner of the tables may do.
Result<void> check_owner(Executor& executor);

}  // namespace hapax::store::postgres
