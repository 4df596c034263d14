// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/sha256.hpp"

#include "base/check.hpp"

#include <openssl/evp.h>

#include <cstdint>
#include <memory>

namespace hapax {

namespace {

class Hasher {
 public:
  Hasher() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
    HAPAX_CHECK(context_ && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1);
  }

  void add(std::string_view bytes) {
    HAPAX_CHECK(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1);
  }

  void add_length(std::uint64_t length) {
    char big_endian[8];
    for (int i = 7; i >= 0; --i, length >>= 8) big_endian[i] = static_cast<char>(length & 0xff);
    add({big_endian, sizeof big_endian});
  }

  Digest finish() {
    Digest digest;
    HAPAX_CHECK(EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr) == 1);
    return digest;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
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
