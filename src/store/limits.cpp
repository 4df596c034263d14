// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/limits.hpp"

#include "base/try.hpp"

#include <hapax/store.hpp>

#include <string>

namespace hapax::store {

Result<void> check_length(std::string_view what, std::string_view bytes, std::size_t most) {
  if (!bytes.empty() && bytes.size() <= most) return {};
  return Error(Code::invalid_argument, std::string(what) + " has 1 to " + std::to_string(most) +
                                           " bytes; this one has " + std::to_string(bytes.size()));
}

Result<void> check_claim(std::string_view scope, std::string_view id,
                         std::chrono::milliseconds ttl) {
  HAPAX_TRY(check_length("a scope", scope, kMaxScope));
  HAPAX_TRY(check_length("an id", id, kMaxId));
  if (ttl.count() >= 1 && ttl <= kMaxTtl) return {};
  return Error(Code::invalid_argument, "a ttl lasts from 1 ms to 36500 days; this one has " +
                                           std::to_string(ttl.count()) + " ms");
}

Result<void> check_message(const Message& message, std::string_view encoded_headers) {
  HAPAX_TRY(check_length("a destination", message.destination, kMaxDestination));
  const auto at_most = [](std::string_view what, std::string_view bytes, std::size_t most) {
    return bytes.empty() ? Result<void>() : check_length(what, bytes, most);
  };
  HAPAX_TRY(at_most("a message key", message.key, kMaxId));
  HAPAX_TRY(at_most("an order key", message.order_key, kMaxId));
  HAPAX_TRY(at_most("a payload", message.payload, kMaxPayload));
  return at_most("a message's encoded headers", encoded_headers, kMaxHeaderBytes);
}

}  // namespace hapax::store
