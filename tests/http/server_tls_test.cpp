// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "http/generous.hpp"
#include "http/server.hpp"
#include "http/tls_server.hpp"
#include "support/http.hpp"
#include "support/world.hpp"

#include <gtest/gtest.h>

#include <csignal>

// The TLS versions and ciphers that a server accepts.
namespace hapax::http {
namespace {

class Nothing final : public Handler {
 public:
  std::variant<ReadBody, Reply> on_headers(const Head&, std::string_view) override {
    return Reply{.status = 204};
  }
  Task<Reply> answer(const Incoming&) override { co_return Reply{.status = 204}; }
  void refused(Refusal, std::string_view) override {}
};

class ServerTls : public testing::Test {
 protected:
  ServerTls() {
    std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes without MSG_NOSIGNAL
    const TlsFiles files{certificate_.write_to(directory_.file("cert.pem")),
                         certificate_.write_key_to(directory_.file("key.pem"))};
    port_ = server_
                .listen({"127.0.0.1", 0}, files, test::generous_limits(),
                        [](std::size_t) { return std::make_unique<Nothing>(); })
                .value();
    server_.start();
  }

  // The cipher negotiated with a client that offers only these; "" if the handshake fails.
  std::string agreed(int version, const char* ciphers) {
    const test::RawClient client(port_);
    SSL_CTX* const context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_min_proto_version(context, version);
    SSL_CTX_set_max_proto_version(context, version);
    EXPECT_EQ(SSL_CTX_set_cipher_list(context, ciphers), 1) << ciphers;
    SSL* const stream = SSL_new(context);
    SSL_set_fd(stream, client.handle());
    std::string name;
    if (SSL_connect(stream) == 1) name = SSL_get_cipher_name(stream);
    SSL_free(stream);
    SSL_CTX_free(context);
    return name;
  }

  const test::Certificate certificate_{"localhost", "127.0.0.1", test::Certificate::Kind::rsa};
  test::TempDir directory_;
  std::unique_ptr<Clock> clock_ = make_system_clock();
  Server server_{*clock_, 1};
  int port_ = 0;
};

TEST_F(ServerTls, EveryConnectionHasForwardSecrecy) {
  EXPECT_EQ(agreed(TLS1_2_VERSION, "AES128-SHA"), "");
  EXPECT_EQ(agreed(TLS1_2_VERSION, "AES256-GCM-SHA384"), "");
  EXPECT_EQ(agreed(TLS1_2_VERSION, "ECDHE-RSA-AES128-GCM-SHA256"), "ECDHE-RSA-AES128-GCM-SHA256");
  EXPECT_EQ(agreed(TLS1_2_VERSION, "ALL:COMPLEMENTOFALL").substr(0, 6), "ECDHE-");
  EXPECT_EQ(agreed(TLS1_3_VERSION, "ALL").substr(0, 4), "TLS_");
}

}  // namespace
}  // namespace hapax::http
