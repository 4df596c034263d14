// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <openssl/md5.h>
#include <openssl/sha.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hapax::verify_detail {

enum class Hash : std::uint8_t { md5, sha1, sha256, sha384, sha512 };

inline constexpr std::size_t kMaxDigest = 64;

struct HashValue {
  std::array<unsigned char, kMaxDigest> bytes;
  std::size_t size;
  std::string_view view() const { return {reinterpret_cast<const char*>(bytes.data()), size}; }
};

// Receives the bytes of a message, in pieces.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void add(std::string_view bytes) = 0;
};

// Collects the bytes.
class StringSink final : public Sink {
 public:
  void add(std::string_view bytes) override { text.append(bytes); }
  std::string text;
};

// A hash in progress. A plain value, so that a prepared state is copied and not recomputed.
class Hashing final : public Sink {
 public:
  explicit Hashing(Hash hash);
  void add(std::string_view bytes) override;
  HashValue finish();

 private:
  Hash hash_;
  union {
    MD5_CTX md5;
    SHA_CTX sha1;
    SHA256_CTX sha256;
    SHA512_CTX sha512;
  } context_;
};

// HMAC (RFC 2104) with both key blocks hashed in advance: a verification copies two small states,
// allocates nothing and shares nothing with other threads. EVP_MAC would allocate a context for
// each verification. See docs/adr/0008.
class HmacKey {
 public:
  HmacKey(Hash hash, std::string_view key);

  Hashing begin() const { return inner_; }
  HashValue finish(Hashing& message) const;

 private:
  Hashing inner_;
  Hashing outer_;
};

HashValue hash_of(Hash hash, std::string_view bytes);

// Whether both are equal. The time depends only on the sizes.
bool equal_in_constant_time(std::string_view a, std::string_view b);

}  // namespace hapax::verify_detail
