// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/postgres/message.hpp"

#include <hapax/store.hpp>

#include "base/claim_key.hpp"
#include "model/message.hpp"

namespace hapax::store::postgres {

void add_message(Parameters& parameters, const MessageId& id, const Message& message) {
  const std::string headers = encode_headers(message);
  const Digest digest = content_digest(message, headers);
  const bool keyed = !message.key.empty();
  parameters.add_bytes({reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()});
  parameters.add_bytes(message.destination);
  parameters.add_bytes_or_null(message.key);
  parameters.add_bytes_or_null(message.order_key);
  parameters.add_bytes(headers);
  parameters.add_bytes(message.payload);
  parameters.add_bytes_or_null(
      keyed ? claim_key(ClaimKind::message, message.destination, message.key) : std::string());
  parameters.add_bytes_or_null(keyed ? hapax::view(digest) : std::string_view());
  parameters.add_number(std::chrono::milliseconds(kDefaultTtl).count());
}

}  // namespace hapax::store::postgres
