// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/tx.hpp>

#include "store/postgres/wire.hpp"

namespace hapax::store::postgres {

// The parameters of hapax._enqueue and hapax._send that say what the message is: its id, its parts,
// and for one with a key the claim, the digest of its content, and how long both are remembered.
void add_message(Parameters& parameters, const MessageId& id, const Message& message);

}  // namespace hapax::store::postgres
