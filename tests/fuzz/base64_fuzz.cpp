// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// base64 and hexadecimal: decoding and encoding are inverse to each other, so every value has
// exactly one encoding.
#include "base/base64.hpp"
#include "base/check.hpp"
#include "base/hex.hpp"

#include <cstdint>
#include <vector>

namespace {

using namespace hapax;

void check_kind(std::string_view text, Base64 kind) {
  if (const auto bytes = from_base64(text, kind)) HAPAX_CHECK(to_base64(*bytes, kind) == text);
  HAPAX_CHECK(from_base64(to_base64(text, kind), kind) == text);
  // A buffer of exactly the right size, so that a sanitizer detects an overflow by one byte.
  const auto bytes = from_base64(text, kind);
  std::vector<unsigned char> out(bytes ? bytes->size() : text.size());
  const auto size = decode_base64(text, kind, out);
  HAPAX_CHECK(size.has_value() == bytes.has_value());
  HAPAX_CHECK(!size || *size == out.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_kind(text, Base64::standard);
  check_kind(text, Base64::url);
  HAPAX_CHECK(from_hex(to_hex(text)) == text);
  if (const auto bytes = from_hex(text)) HAPAX_CHECK(to_hex(*bytes).size() == text.size());
  return 0;
}
