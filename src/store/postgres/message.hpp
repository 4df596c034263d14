// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/outbox.hpp>

#include "store/postgres/wire.hpp"

namespace hapax::store::postgres {

// Adds the parameters of hapax._enqueue and hapax._send that describe the message: its id and
// parts, for one with a key its claim key and the digest of its content, and how long both are
// kept.
void add_message(Parameters& parameters, const MessageId& id, const Message& message);

}  // namespace hapax::store::postgres
