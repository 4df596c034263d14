// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "http/client_stream.hpp"

#include "http/address_guard.hpp"
#include "http/lookups.hpp"

#include <boost/asio/connect.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/write.hpp>

#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <sys/socket.h>

#include <cerrno>

namespace hapax::http {

namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using Resolver = asio::ip::basic_resolver<asio::ip::tcp, Executor>;

// Sets the expected certificate name, and SNI if `host` is a name.
bool expect_host(SSL* handle, const std::string& host) {
  error_code not_an_address;
  asio::ip::make_address(host, not_an_address);
  X509_VERIFY_PARAM* const wanted = SSL_get0_param(handle);
  if (!not_an_address) return X509_VERIFY_PARAM_set1_ip_asc(wanted, host.c_str()) == 1;
  // SSL_set_tlsext_host_name() without its cast.
  std::string name = host;
  const bool named =
      SSL_ctrl(handle, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, name.data()) == 1;
  return named && X509_VERIFY_PARAM_set1_host(wanted, host.data(), host.size()) == 1;
}

}  // namespace

ClientTls::ClientTls(std::unique_ptr<Context> context) : context_(std::move(context)) {}
ClientTls::~ClientTls() = default;

Result<std::shared_ptr<const ClientTls>> ClientTls::make(const std::string& ca_file) {
  auto made = std::make_unique<Context>();
  error_code error;
  asio::ssl::context& tls = made->tls;
  tls.set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                      asio::ssl::context::no_tlsv1_1,
                  error);
  tls.set_verify_mode(asio::ssl::verify_peer, error);
  tls.set_default_verify_paths(error);
  if (!ca_file.empty()) tls.load_verify_file(ca_file, error);
  if (error) {
    return Error(Code::misconfigured, "cannot read the certificates " +
                                          (ca_file.empty() ? "of the system" : "in " + ca_file) +
                                          ": " + error.message());
  }
  return std::shared_ptr<const ClientTls>(new ClientTls(std::move(made)));
}

ClientStream::ClientStream(const Executor& executor, const Url& to,
                           std::shared_ptr<const ClientTls> tls, bool public_only, Lookups* lookups)
    : to_(to),
      public_only_(public_only),
      lookups_(lookups),
      tls_(std::move(tls)),
      watch_(std::make_shared<Watch>(executor)) {}

ClientStream::~ClientStream() {
  stop_clock();
  close();
}

void ClientStream::start_clock(std::chrono::milliseconds limit) {
  watch_->expired = false;
  watch_->timer.expires_after(limit);
  watch_->timer.async_wait([watch = watch_, generation = ++watch_->generation](error_code error) {
    // The handler may already be queued when the timer is stopped or restarted.
    if (error || watch->generation != generation) return;
    watch->expired = true;
    watch->socket.close(error);
  });
}

void ClientStream::stop_clock() {
  ++watch_->generation;
  watch_->timer.cancel();
}

void ClientStream::close() {
  error_code ignored;
  watch_->socket.close(ignored);
}

bool ClientStream::is_quiet(bool used) {
  char byte = 0;
  const auto got = recv(watch_->socket.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  // A TLS server may send session tickets after the handshake; they are read with the first
  // response.
  if (got > 0) return secure_ && !used;
  if (got == 0) return false;
  return errno == EAGAIN || errno == EWOULDBLOCK;
}

Failure ClientStream::failure(Trouble trouble, const std::string& why) const {
  return {trouble, false, to_.host + ":" + std::to_string(to_.port) + ": " + why};
}

Task<std::optional<Failure>> ClientStream::open(std::chrono::milliseconds limit) {
  close();
  secure_.reset();
  start_clock(limit);
  std::optional<Failure> failed = co_await open_within();
  stop_clock();
  if (failed) close();
  co_return failed;
}

Task<std::optional<Failure>> ClientStream::open_within() {
  Endpoints endpoints;
  std::optional<Failure> failed = co_await resolve(endpoints);
  if (failed) co_return failed;
  error_code error;
  co_await asio::async_connect(watch_->socket, endpoints, asio::redirect_error(kUseTask, error));
  if (expired()) co_return failure(Trouble::timed_out, "connect timed out");
  if (error == asio::error::connection_refused) {
    co_return failure(Trouble::refused, "connection refused");
  }
  if (error) co_return failure(Trouble::unreachable, "cannot connect: " + error.message());
  watch_->socket.set_option(asio::ip::tcp::no_delay(true), error);
  if (to_.tls) failed = co_await tls_handshake();
  co_return failed;
}

Task<std::optional<Failure>> ClientStream::resolve(Endpoints& found) {
  std::optional<Failure> failed = co_await look_up(found);
  if (failed || !public_only_) co_return failed;
  std::erase_if(found, [](const auto& each) { return !is_public(each.address()); });
  if (found.empty()) {
    co_return failure(Trouble::address_refused, "the address is not public");
  }
  co_return std::nullopt;
}

// The system's lookup cannot be cancelled, so it is not awaited directly: `done` is cancelled by
// its result or by the timeout, whichever comes first.
Task<std::optional<Failure>> ClientStream::look_up(Endpoints& found) {
  error_code error;
  const auto address = asio::ip::make_address(to_.host, error);
  if (!error) {
    found.emplace_back(address, to_.port);
    co_return std::nullopt;
  }
  struct Lookup {
    explicit Lookup(const Executor& executor) : resolver(executor), done(executor) {
      done.expires_at(Timer::time_point::max());
    }
    Resolver resolver;
    Timer done;
    error_code error = asio::error::host_not_found;
    Endpoints found;
  };
  const auto lookup = std::make_shared<Lookup>(watch_->timer.get_executor());
  if (lookups_ != nullptr) {
    lookups_->resolve(to_.host, [lookup, port = to_.port](const Lookups::Addresses& addresses) {
      lookup->error = {};
      for (const auto& each : addresses) lookup->found.emplace_back(each, port);
      lookup->done.cancel();
    });
  } else {
    lookup->resolver.async_resolve(to_.host, std::to_string(to_.port),
                                   [lookup](error_code failed, const auto& results) {
                                     lookup->error = failed;
                                     for (const auto& each : results) {
                                       lookup->found.push_back(each.endpoint());
                                     }
                                     lookup->done.cancel();
                                   });
  }
  watch_->timer.async_wait([lookup](error_code) { lookup->done.cancel(); });
  co_await lookup->done.async_wait(asio::redirect_error(kUseTask, error));
  if (expired()) co_return failure(Trouble::timed_out, "DNS lookup timed out");
  if (lookup->error || lookup->found.empty()) {
    co_return failure(Trouble::unresolved, "host not found");
  }
  found = lookup->found;
  co_return std::nullopt;
}

Task<std::optional<Failure>> ClientStream::tls_handshake() {
  error_code error;
  if (!tls_) co_return failure(Trouble::tls, "no trusted certificates configured");
  secure_.emplace(watch_->socket, tls_->context().tls);
  SSL* const handle = secure_->native_handle();
  if (!expect_host(handle, to_.host)) co_return failure(Trouble::tls, "invalid TLS server name");
  co_await secure_->async_handshake(asio::ssl::stream_base::client,
                                    asio::redirect_error(kUseTask, error));
  if (!error) co_return std::nullopt;
  if (expired())
    co_return failure(Trouble::timed_out, "TLS handshake timed out; does the port speak https?");
  const long verdict = SSL_get_verify_result(handle);
  if (verdict != X509_V_OK) {
    co_return failure(Trouble::certificate, std::string("certificate not trusted: ") +
                                                X509_verify_cert_error_string(verdict));
  }
  co_return failure(Trouble::tls, "the TLS handshake failed: " + error.message());
}

Task<ClientStream::IoResult> ClientStream::read_some(std::span<char> room) {
  IoResult result;
  const auto into = asio::buffer(room.data(), room.size());
  if (secure_) {
    result.bytes =
        co_await secure_->async_read_some(into, asio::redirect_error(kUseTask, result.error));
  } else {
    result.bytes =
        co_await watch_->socket.async_read_some(into, asio::redirect_error(kUseTask, result.error));
  }
  co_return result;
}

Task<ClientStream::IoResult> ClientStream::write(std::string_view bytes) {
  IoResult result;
  const auto from = asio::buffer(bytes.data(), bytes.size());
  if (secure_) {
    result.bytes =
        co_await asio::async_write(*secure_, from, asio::redirect_error(kUseTask, result.error));
  } else {
    result.bytes = co_await asio::async_write(watch_->socket, from,
                                              asio::redirect_error(kUseTask, result.error));
  }
  co_return result;
}

}  // namespace hapax::http
