// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "admin/api/call.hpp"
#include "admin/idempotency_key.hpp"
#include "admin/members.hpp"
#include "deliver/request_key.hpp"

// What requests to replay one event and to replay many have in common.
namespace hapax::admin {

// as, destination, accept_duplicate. Nothing: no destination has the name.
Result<std::optional<store::HowToReplay>> read_how(const ApiContext& context,
                                                   const Members& members);
http::Reply no_such_destination();

// Keys of two routes never meet.
deliver::RequestKey request_key(std::string_view route, const Call& call, std::string_view key);

}  // namespace hapax::admin
