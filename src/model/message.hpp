// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>
#include <hapax/outbox.hpp>

#include "base/sha256.hpp"

#include <string>

namespace hapax {

// A new UUID of version 7: later ids sort after earlier ones.
MessageId make_message_id(const Clock& clock, Random& random);

// The stored form of headers; see headers.hpp.
std::string encode_headers(const Message& message);

// A repeated message with the same key must have the same digest.
Digest content_digest(const Message& message, std::string_view encoded_headers);

}  // namespace hapax
