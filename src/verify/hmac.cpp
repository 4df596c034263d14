// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// OpenSSL 3 deprecates the functions of a single hash (SHA256_Init), but its own providers use
// them. Their contexts are plain values that can be copied.
#define OPENSSL_SUPPRESS_DEPRECATED

#include "verify/hmac.hpp"

#include <openssl/crypto.h>

namespace hapax::verify_detail {

namespace {

constexpr std::size_t block_size(Hash hash) {
  return hash == Hash::sha384 || hash == Hash::sha512 ? 128 : 64;
}

}  // namespace

// None of these can fail, because they only initialize the context.
Hashing::Hashing(Hash hash) : hash_(hash) {
  switch (hash) {
    case Hash::md5:
      MD5_Init(&context_.md5);
      return;
    case Hash::sha1:
      SHA1_Init(&context_.sha1);
      return;
    case Hash::sha256:
      SHA256_Init(&context_.sha256);
      return;
    case Hash::sha384:
      SHA384_Init(&context_.sha512);
      return;
    case Hash::sha512:
      SHA512_Init(&context_.sha512);
      return;
  }
}

void Hashing::add(std::string_view bytes) {
  switch (hash_) {
    case Hash::md5:
      MD5_Update(&context_.md5, bytes.data(), bytes.size());
      return;
    case Hash::sha1:
      SHA1_Update(&context_.sha1, bytes.data(), bytes.size());
      return;
    case Hash::sha256:
      SHA256_Update(&context_.sha256, bytes.data(), bytes.size());
      return;
    case Hash::sha384:
      SHA384_Update(&context_.sha512, bytes.data(), bytes.size());
      return;
    case Hash::sha512:
      SHA512_Update(&context_.sha512, bytes.data(), bytes.size());
      return;
  }
}

HashValue Hashing::finish() {
  HashValue value{};
  switch (hash_) {
    case Hash::md5:
      MD5_Final(value.bytes.data(), &context_.md5);
      value.size = MD5_DIGEST_LENGTH;
      break;
    case Hash::sha1:
      SHA1_Final(value.bytes.data(), &context_.sha1);
      value.size = SHA_DIGEST_LENGTH;
      break;
    case Hash::sha256:
      SHA256_Final(value.bytes.data(), &context_.sha256);
      value.size = SHA256_DIGEST_LENGTH;
      break;
    case Hash::sha384:
      SHA384_Final(value.bytes.data(), &context_.sha512);
      value.size = SHA384_DIGEST_LENGTH;
      break;
    case Hash::sha512:
      SHA512_Final(value.bytes.data(), &context_.sha512);
      value.size = SHA512_DIGEST_LENGTH;
      break;
  }
  return value;
}

HmacKey::HmacKey(Hash hash, std::string_view key) : inner_(hash), outer_(hash) {
  const std::size_t size = block_size(hash);
  HashValue hashed{};
  if (key.size() > size) {
    hashed = hash_of(hash, key);
    key = hashed.view();
  }
  std::array<char, 128> block{};
  key.copy(block.data(), key.size());
  for (char& byte : block) byte = static_cast<char>(byte ^ 0x36);
  inner_.add({block.data(), size});
  for (char& byte : block) byte = static_cast<char>(byte ^ 0x36 ^ 0x5c);
  outer_.add({block.data(), size});
  OPENSSL_cleanse(block.data(), block.size());
}

HashValue HmacKey::finish(Hashing& message) const {
  const HashValue inner = message.finish();
  Hashing outer = outer_;
  outer.add(inner.view());
  return outer.finish();
}

HashValue hash_of(Hash hash, std::string_view bytes) {
  Hashing hashing(hash);
  hashing.add(bytes);
  return hashing.finish();
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace hapax::verify_detail
