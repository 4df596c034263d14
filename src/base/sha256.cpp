// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// Uses the plain hash state, like verify/hmac.cpp: an EVP context costs two allocations and a
// lookup of the digest by name.
#define OPENSSL_SUPPRESS_DEPRECATED

#include "base/sha256.hpp"

#include <openssl/sha.h>

#include <cstdint>

namespace hapax {

namespace {

// Return values are ignored: these functions only write to the state and cannot fail.
class Hasher {
 public:
  Hasher() { SHA256_Init(&state_); }

  void add(std::string_view bytes) { SHA256_Update(&state_, bytes.data(), bytes.size()); }

  void add_length(std::uint64_t length) {
    char big_endian[8];
    for (int i = 7; i >= 0; --i, length >>= 8) big_endian[i] = static_cast<char>(length & 0xff);
    add({big_endian, sizeof big_endian});
  }

  Digest finish() {
    Digest digest;
    SHA256_Final(digest.data(), &state_);
    return digest;
  }

 private:
  SHA256_CTX state_;
};

}  // namespace

Digest sha256(std::string_view bytes) {
  Hasher hasher;
  hasher.add(bytes);
  return hasher.finish();
}

Digest sha256_of_parts(std::initializer_list<std::string_view> parts) {
  Hasher hasher;
  for (std::string_view part : parts) {
    hasher.add_length(part.size());
    hasher.add(part);
  }
  return hasher.finish();
}

}  // namespace hapax
