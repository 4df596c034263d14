// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>
#include <hapax/tx.hpp>

#include "base/sha256.hpp"

#include <string>

namespace hapax {

// A fresh id: a UUID of version 7, so that ids made later sort later.
MessageId make_message_id(const Clock& clock, Random& random);

// Headers as they are stored: see headers.hpp.
std::string encode_headers(const Message& message);

// What a second message with the same key must have in common with the first.
Digest content_digest(const Message& message, std::string_view encoded_headers);

}  // namespace hapax
