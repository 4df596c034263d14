// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "admin/api/call.hpp"
#include "admin/idempotency_key.hpp"
#include "admin/members.hpp"
#include "deliver/request_key.hpp"

// Shared by replays of one event and bulk replays.
namespace hapax::admin {

// Reads as, destination and accept_duplicate. nullopt: no destination has the name.
Result<std::optional<store::HowToReplay>> read_how(const ApiContext& context,
                                                   const Members& members);
http::Reply no_such_destination();

// Equal keys of different routes are different keys.
deliver::RequestKey request_key(std::string_view route, const Call& call, std::string_view key);

}  // namespace hapax::admin
