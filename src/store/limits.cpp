// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/limits.hpp"

#include "base/try.hpp"

#include <hapax/store.hpp>

#include <algorithm>
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
  return Error(Code::invalid_argument, "ttl must be 1 ms to 36500 days; this one has " +
                                           std::to_string(ttl.count()) + " ms");
}

namespace {

Result<void> at_most(std::string_view what, std::string_view bytes, std::size_t most) {
  return bytes.empty() ? Result<void>() : check_length(what, bytes, most);
}

bool is_visible_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

std::size_t header_bytes(const Message& message) {
  std::size_t bytes = 0;
  for (const auto& [name, value] : message.headers) bytes += name.size() + value.size();
  return bytes;
}

}  // namespace

Result<void> check_message(const Message& message) {
  HAPAX_TRY(check_length("a destination", message.destination, kMaxDestination));
  if (!is_visible_ascii(message.destination)) {
    return Error(Code::invalid_argument, "a destination is a name of visible ASCII characters");
  }
  HAPAX_TRY(at_most("a message key", message.key, kMaxId));
  HAPAX_TRY(at_most("an order key", message.order_key, kMaxId));
  HAPAX_TRY(at_most("a payload", message.payload, kMaxPayload));
  if (header_bytes(message) <= kMaxHeaderBytes) return {};
  return Error(Code::invalid_argument,
               "a message's headers have " + std::to_string(kMaxHeaderBytes) + " bytes at most");
}

}  // namespace hapax::store
