// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "verify/keys.hpp"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <memory>
#include <stdexcept>

namespace hapax::test {

namespace {

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

template <class Write>
std::string pem_of(Write write) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> out(BIO_new(BIO_s_mem()), BIO_free);
  if (write(out.get()) != 1) throw std::runtime_error("OpenSSL does not write the key");
  char* text = nullptr;
  const long size = BIO_get_mem_data(out.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

KeyPair pair_of(EVP_PKEY* made) {
  const Key key(made, EVP_PKEY_free);
  if (!key) throw std::runtime_error("OpenSSL does not make the key");
  return {pem_of([&](BIO* out) {
            return PEM_write_bio_PrivateKey(out, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
          }),
          pem_of([&](BIO* out) { return PEM_write_bio_PUBKEY(out, key.get()); })};
}

}  // namespace

KeyPair make_ed25519() {
  return pair_of(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
}

KeyPair make_p256() {
  return pair_of(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"));
}

KeyPair make_rsa(unsigned bits) {
  return pair_of(EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA", static_cast<std::size_t>(bits)));
}

}  // namespace hapax::test
