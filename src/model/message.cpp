// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "model/message.hpp"

#include "base/hex.hpp"
#include "model/headers.hpp"

#include <chrono>

namespace hapax {

MessageId make_message_id(const Clock& clock, Random& random) {
  MessageId id;
  random.fill(id.bytes);
  auto ms = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(clock.wall().time_since_epoch())
          .count());
  for (int i = 5; i >= 0; --i, ms >>= 8) {
    id.bytes[static_cast<std::size_t>(i)] = static_cast<unsigned char>(ms & 0xff);
  }
  id.bytes[6] = static_cast<unsigned char>(0x70 | (id.bytes[6] & 0x0f));  // version 7
  id.bytes[8] = static_cast<unsigned char>(0x80 | (id.bytes[8] & 0x3f));  // RFC 9562 variant
  return id;
}

std::string MessageId::to_string() const {
  std::string text = to_hex({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  for (const std::size_t place : {8U, 13U, 18U, 23U}) text.insert(place, 1, '-');
  return text;
}

std::string encode_headers(const Message& message) {
  std::string out;
  for (const auto& [name, value] : message.headers) append_header(out, name, value);
  return out;
}

Digest content_digest(const Message& message, std::string_view encoded_headers) {
  return sha256_of_parts({message.payload, encoded_headers, message.order_key});
}

}  // namespace hapax
