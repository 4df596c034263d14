// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <openssl/ssl.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace hapax::test {

// A newly generated self-signed certificate.
class Certificate {
 public:
  enum class Kind : std::uint8_t { ec, rsa };
  Certificate(const std::string& dns, const std::string& ip, Kind kind = Kind::ec);

  std::string write_to(const std::string& path) const;  // PEM; returns the path
  std::string write_key_to(const std::string& path) const;
  X509* certificate() const { return certificate_.get(); }
  EVP_PKEY* key() const { return key_.get(); }

 private:
  std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key_{nullptr, EVP_PKEY_free};
  std::unique_ptr<X509, decltype(&X509_free)> certificate_{nullptr, X509_free};
};

// Performs the TLS handshake and sends `answer` for every request, until the peer closes.
void serve_tls(int fd, const Certificate& certificate, std::string_view answer);

}  // namespace hapax::test
