// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "http/server.hpp"

#include "base/try.hpp"
#include "http/connection.hpp"
#include "http/io_thread.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>

#include <future>
#include <thread>
#include <vector>

namespace hapax::http {

namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using Acceptor = asio::basic_socket_acceptor<asio::ip::tcp, Executor>;
using Tls = asio::ssl::stream<Socket>;

constexpr std::chrono::milliseconds kAcceptAgain{100};
// Ciphers of TLS 1.2 with forward secrecy (all of 1.3 have it): each connection has its own key, so
// recorded traffic cannot be decrypted with a server key stolen later.
constexpr const char* kCiphers = "ECDHE+AESGCM:ECDHE+CHACHA20:ECDHE+AES";
constexpr int kMaxBacklog = 8192;  // connections accepted at shutdown

struct TcpListener {
  TcpListener(const Limits& given, ConnectionLimiter& given_limiter, asio::io_context& context)
      : limits(given), limiter(given_limiter), acceptor(context.get_executor()) {}

  Limits limits;
  ConnectionLimiter& limiter;
  Acceptor acceptor;
  std::optional<asio::ssl::context> tls;
  std::vector<std::unique_ptr<Handler>> handlers;  // one per I/O thread
};

Error cannot_listen(const Address& address, const error_code& error) {
  return Error(Code::misconfigured, "cannot listen on " + address.host + ":" +
                                        std::to_string(address.port) + ": " + error.message());
}

Result<void> load_tls(TcpListener& listener, const TlsFiles& files) {
  error_code error;
  listener.tls.emplace(asio::ssl::context::tls_server);
  asio::ssl::context& tls = *listener.tls;
  tls.set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_sslv2 |
                      asio::ssl::context::no_sslv3 | asio::ssl::context::no_tlsv1 |
                      asio::ssl::context::no_tlsv1_1,
                  error);
  if (SSL_CTX_set_cipher_list(tls.native_handle(), kCiphers) != 1) {
    return Error(Code::misconfigured, "OpenSSL offers no cipher with forward secrecy");
  }
  tls.use_certificate_chain_file(files.certificate, error);
  if (error) {
    return Error(Code::misconfigured,
                 "cannot use the certificate " + files.certificate + ": " + error.message());
  }
  tls.use_private_key_file(files.key, asio::ssl::context::pem, error);
  if (error) {
    return Error(Code::misconfigured, "cannot use the key " + files.key + ": " + error.message());
  }
  return {};
}

template <class Stream>
Task<void> serve(Stream stream, IoThread& io_thread, Handler& handler, const Limits& limits,
                 ConnectionLimiter::Permit permit) {
  Connection<Stream> connection(std::move(stream), io_thread, handler, limits, permit);
  co_await connection.run();
}

std::uint64_t key_of(const asio::ip::address& address) {
  const auto key = [](const auto& bytes) {
    return key_of_address({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  };
  return address.is_v4() ? key(address.to_v4().to_bytes()) : key(address.to_v6().to_bytes());
}

}  // namespace

struct Server::Impl {
  Impl(Clock& clock, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) io_threads.push_back(std::make_unique<IoThread>(clock));
  }

  using Peer = asio::ip::tcp::endpoint;

  Task<void> accept(TcpListener& listener);
  void begin(Socket socket, const Peer& peer, TcpListener& listener, std::size_t thread);
  void close_listeners();

  std::vector<std::unique_ptr<ConnectionLimiter>> limiters;  // outlive the permits in io_threads
  std::vector<std::unique_ptr<IoThread>> io_threads;
  std::vector<std::unique_ptr<TcpListener>> listeners;
  std::vector<std::thread> threads;
};

// Runs on the first I/O thread and distributes the connections round-robin.
Task<void> Server::Impl::accept(TcpListener& listener) {
  asio::basic_waitable_timer<std::chrono::steady_clock,
                             asio::wait_traits<std::chrono::steady_clock>, Executor>
      pause(listener.acceptor.get_executor());
  for (std::size_t next = 0; listener.acceptor.is_open();) {
    const std::size_t thread = next++ % io_threads.size();
    error_code error;
    Socket socket(io_threads[thread]->context().get_executor());
    Peer peer;
    co_await listener.acceptor.async_accept(socket, peer, asio::redirect_error(kUseTask, error));
    if (error == asio::error::operation_aborted) co_return;
    if (error) {  // probably out of file descriptors; retry
      pause.expires_after(kAcceptAgain);
      co_await pause.async_wait(asio::redirect_error(kUseTask, error));
      continue;
    }
    begin(std::move(socket), peer, listener, thread);
  }
}

void Server::Impl::begin(Socket socket, const Peer& peer, TcpListener& listener,
                         std::size_t thread) {
  std::optional<ConnectionLimiter::Permit> permit =
      listener.limiter.try_acquire(key_of(peer.address()));
  if (!permit) return;  // closed at once
  error_code ignored;
  socket.set_option(asio::ip::tcp::no_delay(true), ignored);
  socket.non_blocking(true, ignored);
  IoThread& io_thread = *io_threads[thread];
  Handler& handler = *listener.handlers[thread];
  asio::post(io_thread.context(), [socket = std::move(socket), permit = std::move(*permit),
                                   &io_thread, &handler, &listener]() mutable {
    if (io_thread.stopping()) return;
    const auto here = io_thread.context().get_executor();
    if (listener.tls) {
      Tls stream(std::move(socket), *listener.tls);
      asio::co_spawn(
          here, serve(std::move(stream), io_thread, handler, listener.limits, std::move(permit)),
          asio::detached);
    } else {
      asio::co_spawn(
          here, serve(std::move(socket), io_thread, handler, listener.limits, std::move(permit)),
          asio::detached);
    }
  });
}

// Connections in the backlog were established before the stop, so they are served.
void Server::Impl::close_listeners() {
  error_code error;
  for (auto& each : listeners) {
    each->acceptor.cancel(error);
    each->acceptor.non_blocking(true, error);
    for (int count = 0; count < kMaxBacklog && !error; ++count) {
      const std::size_t thread = static_cast<std::size_t>(count) % io_threads.size();
      Socket socket(io_threads[thread]->context().get_executor());
      Peer peer;
      each->acceptor.accept(socket, peer, error);
      if (!error) begin(std::move(socket), peer, *each, thread);
    }
    each->acceptor.close(error);
  }
}

Server::Server(Clock& clock, std::size_t threads) : impl_(std::make_unique<Impl>(clock, threads)) {}

Server::~Server() {
  stop(std::chrono::milliseconds(0));
}

Result<std::uint16_t> Server::listen(const Address& address, const std::optional<TlsFiles>& tls,
                                     const Limits& limits, const MakeHandler& make_handler) {
  error_code error;
  const auto ip = asio::ip::make_address(address.host, error);
  if (error) return cannot_listen(address, error);
  ConnectionLimiter& limiter =
      *impl_->limiters.emplace_back(std::make_unique<ConnectionLimiter>(limits.limiter));
  auto listener =
      std::make_unique<TcpListener>(limits, limiter, impl_->io_threads.front()->context());
  if (tls) HAPAX_TRY(load_tls(*listener, *tls));
  const asio::ip::tcp::endpoint endpoint(ip, address.port);
  Acceptor& acceptor = listener->acceptor;
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(Acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(Acceptor::max_listen_connections, error);
  if (error) return cannot_listen(address, error);
  for (std::size_t i = 0; i < threads(); ++i) listener->handlers.push_back(make_handler(i));
  const std::uint16_t port = acceptor.local_endpoint().port();
  impl_->listeners.push_back(std::move(listener));
  return port;
}

void Server::start() {
  for (auto& each : impl_->listeners) {
    asio::co_spawn(impl_->io_threads.front()->context().get_executor(), impl_->accept(*each),
                   asio::detached);
  }
  for (auto& each : impl_->io_threads) {
    impl_->threads.emplace_back([&io_thread = *each] { io_thread.run(); });
  }
}

void Server::stop(std::chrono::milliseconds grace) {
  if (!impl_->threads.empty()) {
    std::promise<void> closed;
    asio::post(impl_->io_threads.front()->context(), [&] {
      impl_->close_listeners();
      closed.set_value();
    });
    closed.get_future().wait();
  }
  for (auto& each : impl_->io_threads) {
    asio::post(each->context(), [&io_thread = *each, grace] { io_thread.stop(grace); });
  }
  for (std::thread& each : impl_->threads) each.join();
  impl_->threads.clear();
}

std::size_t Server::threads() const {
  return impl_->io_threads.size();
}

Executor Server::executor(std::size_t thread) const {
  return impl_->io_threads[thread]->context().get_executor();
}

void Server::post(std::size_t thread, std::function<void()> work) {
  asio::post(impl_->io_threads[thread]->context(), std::move(work));
}

std::size_t Server::connections() const {
  std::size_t sum = 0;
  for (const auto& each : impl_->limiters) sum += each->active();
  return sum;
}

std::size_t Server::rejected() const {
  std::size_t sum = 0;
  for (const auto& each : impl_->limiters) sum += each->rejected();
  return sum;
}

}  // namespace hapax::http
