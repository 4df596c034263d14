// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "verify/public_key.hpp"

#include "base/base64.hpp"
#include "base/hex.hpp"
#include "base/json.hpp"
#include "base/try.hpp"

#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#include <climits>

namespace hapax::verify_detail {

namespace {

constexpr std::size_t kEd25519Size = 32;
constexpr std::size_t kP256NumberSize = 32;
constexpr std::size_t kMaxKeyText = 16384;

template <auto free_function>
struct Freeing {
  template <class T>
  void operator()(T* value) const {
    free_function(value);
  }
};
using Bio = std::unique_ptr<BIO, Freeing<BIO_free>>;
using Certificate = std::unique_ptr<X509, Freeing<X509_free>>;
using DigestContext = std::unique_ptr<EVP_MD_CTX, Freeing<EVP_MD_CTX_free>>;
using KeyContext = std::unique_ptr<EVP_PKEY_CTX, Freeing<EVP_PKEY_CTX_free>>;
using EcSignature = std::unique_ptr<ECDSA_SIG, Freeing<ECDSA_SIG_free>>;

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

Bio bio_of(std::string_view text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// Without this callback, OpenSSL would ask for a passphrase on the terminal.
int no_passphrase(char*, int, int, void*) {
  return 0;
}

const EVP_MD* digest_of(SignatureHash hash) {
  switch (hash) {
    case SignatureHash::none:
      return nullptr;
    case SignatureHash::sha1:
      return EVP_sha1();
    case SignatureHash::sha256:
      return EVP_sha256();
  }
  return nullptr;
}

std::string_view words_for(KeyKind kind) {
  switch (kind) {
    case KeyKind::ed25519:
      return "an Ed25519 key";
    case KeyKind::ecdsa_p256:
      return "an ECDSA P-256 key";
    case KeyKind::rsa:
      return "an RSA key";
  }
  return "";
}

constexpr int kRsaBitsMin = 2048;  // smaller keys can be factored
constexpr int kRsaBitsMax = 8192;  // larger keys make each verification too expensive

bool has_accepted_size(EVP_PKEY* rsa) {
  const int bits = EVP_PKEY_get_bits(rsa);
  return bits >= kRsaBitsMin && bits <= kRsaBitsMax;
}

bool is_kind(EVP_PKEY* key, KeyKind kind) {
  switch (kind) {
    case KeyKind::ed25519:
      return EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519;
    case KeyKind::ecdsa_p256: {
      char group[32] = {};
      return EVP_PKEY_get_base_id(key) == EVP_PKEY_EC &&
             EVP_PKEY_get_group_name(key, group, sizeof group, nullptr) == 1 &&
             std::string_view(group) == "prime256v1";
    }
    case KeyKind::rsa:
      return EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA;
  }
  return false;
}

EVP_PKEY* read_pem(std::string_view text) {
  if (EVP_PKEY* key = PEM_read_bio_PUBKEY(bio_of(text).get(), nullptr, no_passphrase, nullptr)) {
    return key;
  }
  const Certificate certificate(
      PEM_read_bio_X509(bio_of(text).get(), nullptr, no_passphrase, nullptr));
  return certificate ? X509_get_pubkey(certificate.get()) : nullptr;
}

EVP_PKEY* read_der(std::string_view der) {
  const unsigned char* at = bytes_of(der);
  return d2i_PUBKEY(nullptr, &at, static_cast<long>(der.size()));
}

EVP_PKEY* read_point(std::string_view x, std::string_view y) {
  std::string point = "\x04";
  point.append(x).append(y);
  char group[] = "prime256v1";
  OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, group, sizeof group - 1),
      OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size()),
      OSSL_PARAM_construct_end()};
  const std::unique_ptr<EVP_PKEY_CTX, Freeing<EVP_PKEY_CTX_free>> context(
      EVP_PKEY_CTX_new_from_name(nullptr, "EC", nullptr));
  EVP_PKEY* key = nullptr;
  if (!context || EVP_PKEY_fromdata_init(context.get()) != 1) return nullptr;
  EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, parameters);
  return key;
}

EVP_PKEY* read_jwk(std::string_view text) {
  JsonReader json;
  if (!json.open(text, 0) || json.at("/kty").text != "EC" || json.at("/crv").text != "P-256") {
    return nullptr;
  }
  const auto x = from_base64(json.at("/x").text, Base64::url);
  const auto y = from_base64(json.at("/y").text, Base64::url);
  if (!x || !y || x->size() != kP256NumberSize || y->size() != kP256NumberSize) return nullptr;
  return read_point(*x, *y);
}

std::optional<std::string> raw_bytes(std::string_view text) {
  if (text.size() == 2 * kEd25519Size) {
    if (auto bytes = from_hex(text)) return bytes;
  }
  return from_base64(text);
}

EVP_PKEY* read_public(KeyKind kind, std::string_view text) {
  if (text.find("-----BEGIN") != std::string_view::npos) return read_pem(text);
  if (text.starts_with('{')) return read_jwk(text);
  const auto bytes = raw_bytes(text);
  if (!bytes) return nullptr;
  if (kind == KeyKind::ed25519 && bytes->size() == kEd25519Size) {
    return EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, bytes_of(*bytes), kEd25519Size);
  }
  return read_der(*bytes);
}

EVP_PKEY* read_private(KeyKind kind, std::string_view text) {
  if (text.find("-----BEGIN") != std::string_view::npos) {
    return PEM_read_bio_PrivateKey(bio_of(text).get(), nullptr, no_passphrase, nullptr);
  }
  const auto bytes = raw_bytes(text);
  if (kind != KeyKind::ed25519 || !bytes) return nullptr;
  if (bytes->size() != kEd25519Size && bytes->size() != 2 * kEd25519Size) return nullptr;
  return EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, bytes_of(*bytes), kEd25519Size);
}

// Converts an ECDSA signature from r and s, concatenated, to DER.
std::optional<std::string> der_of_pair(std::string_view pair) {
  if (pair.size() != 2 * kP256NumberSize) return std::nullopt;
  const EcSignature signature(ECDSA_SIG_new());
  BIGNUM* r = BN_bin2bn(bytes_of(pair), kP256NumberSize, nullptr);
  BIGNUM* s = BN_bin2bn(bytes_of(pair) + kP256NumberSize, kP256NumberSize, nullptr);
  if (!signature || !r || !s || ECDSA_SIG_set0(signature.get(), r, s) != 1) {
    BN_free(r);
    BN_free(s);
    return std::nullopt;
  }
  unsigned char* der = nullptr;
  const int size = i2d_ECDSA_SIG(signature.get(), &der);
  if (size <= 0) return std::nullopt;
  std::string bytes(reinterpret_cast<const char*>(der), static_cast<std::size_t>(size));
  OPENSSL_free(der);
  return bytes;
}

std::optional<std::string> pair_of_der(std::string_view der) {
  const unsigned char* at = bytes_of(der);
  const EcSignature signature(d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size())));
  if (!signature) return std::nullopt;
  std::string pair(2 * kP256NumberSize, '\0');
  auto* out = reinterpret_cast<unsigned char*>(pair.data());
  const int size = static_cast<int>(kP256NumberSize);
  if (BN_bn2binpad(ECDSA_SIG_get0_r(signature.get()), out, size) != size ||
      BN_bn2binpad(ECDSA_SIG_get0_s(signature.get()), out + size, size) != size) {
    return std::nullopt;
  }
  return pair;
}

Error not_a_key(KeyKind kind, std::string_view ways) {
  // Otherwise the errors would stay in the thread's OpenSSL error queue.
  ERR_clear_error();
  return Error(Code::invalid_argument, "this is not " + std::string(words_for(kind)) +
                                           "; write it as " + std::string(ways));
}

Result<void> check_key(EVP_PKEY* key, KeyKind kind, std::string_view ways) {
  if (key == nullptr || !is_kind(key, kind)) return not_a_key(kind, ways);
  ERR_clear_error();
  if (kind != KeyKind::rsa || has_accepted_size(key)) return {};
  return Error(Code::invalid_argument,
               "this RSA key has " + std::to_string(EVP_PKEY_get_bits(key)) +
                   " bits; only keys of 2048 to 8192 bits are accepted, because signatures of "
                   "shorter ones can be forged; ask the sender for another key");
}

}  // namespace

void PublicKey::Free::operator()(evp_pkey_st* key) const {
  EVP_PKEY_free(key);
}

Result<PublicKey> PublicKey::make(KeyKind kind, std::string_view text) {
  Handle key(text.size() <= kMaxKeyText ? read_public(kind, text) : nullptr);
  HAPAX_TRY(check_key(key.get(), kind,
                      "PEM (a public key or a certificate), base64 of the DER, or as the provider "
                      "shows it"));
  return PublicKey(kind, std::move(key));
}

Result<PublicKey> PublicKey::make_private(KeyKind kind, std::string_view text) {
  Handle key(text.size() <= kMaxKeyText ? read_private(kind, text) : nullptr);
  HAPAX_TRY(check_key(key.get(), kind, "a private key in PEM, unencrypted"));
  return PublicKey(kind, std::move(key));
}

bool PublicKey::verify(SignatureHash hash, std::string_view message,
                       std::string_view signature) const {
  const DigestContext context(EVP_MD_CTX_new());
  const bool matches =
      context &&
      EVP_DigestVerifyInit(context.get(), nullptr, digest_of(hash), nullptr, key_.get()) == 1 &&
      EVP_DigestVerify(context.get(), bytes_of(signature), signature.size(), bytes_of(message),
                       message.size()) == 1;
  if (!matches) ERR_clear_error();
  return matches;
}

bool PublicKey::verify_digest(std::string_view sha256, std::string_view signature) const {
  const KeyContext context(EVP_PKEY_CTX_new(key_.get(), nullptr));
  const bool matches = context && EVP_PKEY_verify_init(context.get()) == 1 &&
                       EVP_PKEY_CTX_set_signature_md(context.get(), EVP_sha256()) == 1 &&
                       EVP_PKEY_verify(context.get(), bytes_of(signature), signature.size(),
                                       bytes_of(sha256), sha256.size()) == 1;
  if (!matches) ERR_clear_error();
  return matches;
}

bool PublicKey::verify_pair(std::string_view message, std::string_view signature) const {
  const std::optional<std::string> der = der_of_pair(signature);
  return der && verify(SignatureHash::sha256, message, *der);
}

std::optional<std::string> PublicKey::sign(SignatureHash hash, std::string_view message) const {
  const DigestContext context(EVP_MD_CTX_new());
  std::size_t size = 0;
  if (!context ||
      EVP_DigestSignInit(context.get(), nullptr, digest_of(hash), nullptr, key_.get()) != 1 ||
      EVP_DigestSign(context.get(), nullptr, &size, bytes_of(message), message.size()) != 1) {
    ERR_clear_error();
    return std::nullopt;
  }
  std::string signature(size, '\0');
  auto* out = reinterpret_cast<unsigned char*>(signature.data());
  if (EVP_DigestSign(context.get(), out, &size, bytes_of(message), message.size()) != 1) {
    ERR_clear_error();
    return std::nullopt;
  }
  signature.resize(size);
  return signature;
}

std::optional<std::string> PublicKey::sign_pair(std::string_view message) const {
  const std::optional<std::string> der = sign(SignatureHash::sha256, message);
  if (!der) return std::nullopt;
  return pair_of_der(*der);
}

std::string PublicKey::der() const {
  unsigned char* der = nullptr;
  const int size = i2d_PUBKEY(key_.get(), &der);
  if (size <= 0) return {};
  std::string bytes(reinterpret_cast<const char*>(der), static_cast<std::size_t>(size));
  OPENSSL_free(der);
  return bytes;
}

}  // namespace hapax::verify_detail
