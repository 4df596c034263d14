// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "http/tls_server.hpp"

#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace hapax::test {

namespace {

void add_extension(X509* to, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, to, to, nullptr, nullptr, 0);
  X509_EXTENSION* const made = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  if (made == nullptr || X509_add_ext(to, made, -1) != 1) std::abort();
  X509_EXTENSION_free(made);
}

}  // namespace

Certificate::Certificate(const std::string& dns, const std::string& ip, Kind kind) {
  constexpr std::size_t kBits = 2048;
  key_.reset(kind == Kind::rsa ? EVP_RSA_gen(kBits) : EVP_EC_gen("P-256"));
  certificate_.reset(X509_new());
  X509* const made = certificate_.get();
  X509_set_version(made, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(made), 1);
  X509_gmtime_adj(X509_getm_notBefore(made), -3600);
  X509_gmtime_adj(X509_getm_notAfter(made), 3600);
  X509_set_pubkey(made, key_.get());
  X509_NAME* const name = X509_get_subject_name(made);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(dns.c_str()), -1, -1, 0);
  X509_set_issuer_name(made, name);
  add_extension(made, NID_basic_constraints, "critical,CA:TRUE");
  add_extension(made, NID_subject_alt_name, "DNS:" + dns + ",IP:" + ip);
  if (X509_sign(made, key_.get(), EVP_sha256()) == 0) std::abort();
}

std::string Certificate::write_to(const std::string& path) const {
  std::FILE* const file = std::fopen(path.c_str(), "w");
  if (file == nullptr || PEM_write_X509(file, certificate_.get()) != 1) std::abort();
  std::fclose(file);
  return path;
}

std::string Certificate::write_key_to(const std::string& path) const {
  std::FILE* const file = std::fopen(path.c_str(), "w");
  const bool written = file != nullptr && PEM_write_PrivateKey(file, key_.get(), nullptr, nullptr,
                                                               0, nullptr, nullptr) == 1;
  if (!written) std::abort();
  std::fclose(file);
  return path;
}

void serve_tls(int fd, const Certificate& certificate, std::string_view answer) {
  std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes without MSG_NOSIGNAL
  SSL_CTX* const context = SSL_CTX_new(TLS_server_method());
  SSL_CTX_use_certificate(context, certificate.certificate());
  SSL_CTX_use_PrivateKey(context, certificate.key());
  SSL* const stream = SSL_new(context);
  SSL_set_fd(stream, fd);
  std::string request;
  char byte = 0;
  const bool open = SSL_accept(stream) == 1;
  // Requests of these tests have bodies of one byte, or none.
  while (open && SSL_read(stream, &byte, 1) == 1) {
    request += byte;
    const std::size_t end = request.find("\r\n\r\n");
    const bool has_body = request.find("Content-Length: 1\r\n") != std::string::npos;
    if (end == std::string::npos || request.size() < end + 4 + (has_body ? 1 : 0)) continue;
    request.clear();
    SSL_write(stream, answer.data(), static_cast<int>(answer.size()));
  }
  SSL_free(stream);
  SSL_CTX_free(context);
}

}  // namespace hapax::test
