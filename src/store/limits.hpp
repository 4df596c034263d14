// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/error.hpp>
#include <hapax/outbox.hpp>

#include <chrono>
#include <string_view>

namespace hapax::store {

// Rejects a value that is empty or longer than `most`; `what` names it in the error: "an id".
Result<void> check_length(std::string_view what, std::string_view bytes, std::size_t most);

// Checks the limits of a claim: scope, id and ttl.
Result<void> check_claim(std::string_view scope, std::string_view id,
                         std::chrono::milliseconds ttl);

// Checks the limits of an outbox message.
Result<void> check_message(const Message& message);

}  // namespace hapax::store
