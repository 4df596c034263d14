// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "gateway/receive.hpp"
#include "http/message.hpp"

#include <span>

// Responses to senders.
namespace hapax::gateway {

http::Reply acknowledgement(const Source& source, const Stored& stored);
// hapax's own JSON, even if the source configures another acknowledgement.
std::string in_json(const Source& source, const Stored& stored);
http::Reply refusal(const Refused& refused);
http::Reply handshake(const HandshakeAnswer& answer);
http::Reply failure(const Error& error);

}  // namespace hapax::gateway
