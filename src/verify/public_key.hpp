// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/error.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct evp_pkey_st;

namespace hapax::verify_detail {

enum class KeyKind : std::uint8_t { ed25519, ecdsa_p256, rsa };

enum class SignatureHash : std::uint8_t { none, sha1, sha256 };

// A public key, or with make_private() a private one. Thread-safe once made.
class PublicKey {
 public:
  // PEM (public key or certificate), base64 of the DER (SPKI), or a JWK; for Ed25519 also the 32
  // bytes in hex or base64. invalid_argument: it is not a key of this kind.
  static Result<PublicKey> make(KeyKind kind, std::string_view text);
  // PEM; for Ed25519 also base64 of the 32 bytes, or of 64 bytes that end with the public key.
  static Result<PublicKey> make_private(KeyKind kind, std::string_view text);

  bool verify(SignatureHash hash, std::string_view message, std::string_view signature) const;
  // The same, given the SHA-256 of the message; not for Ed25519.
  bool verify_digest(std::string_view sha256, std::string_view signature) const;
  // ECDSA with r and s concatenated (JWT) instead of DER.
  bool verify_pair(std::string_view message, std::string_view signature) const;
  std::optional<std::string> sign(SignatureHash hash, std::string_view message) const;
  std::optional<std::string> sign_pair(std::string_view message) const;

  // The public key as DER (SPKI), which is the same for all encodings of a key.
  std::string der() const;

 private:
  struct Free {
    void operator()(evp_pkey_st* key) const;
  };
  using Handle = std::unique_ptr<evp_pkey_st, Free>;

  PublicKey(KeyKind kind, Handle key) : kind_(kind), key_(std::move(key)) {}

  KeyKind kind_;
  Handle key_;

  friend struct KeyReading;
};

}  // namespace hapax::verify_detail
