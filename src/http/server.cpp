// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "http/server.hpp"

#include "base/try.hpp"
#include "http/connection.hpp"
#include "http/reactor.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>

#include <atomic>
#include <thread>
#include <vector>

namespace hapax::http {

namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using Acceptor = asio::basic_socket_acceptor<asio::ip::tcp, Executor>;
using Tls = asio::ssl::stream<Socket>;

constexpr std::chrono::milliseconds kAcceptAgain{100};

struct Listener {
  Listener(const Limits& given, asio::io_context& context)
      : limits(given), acceptor(context.get_executor()) {}

  Limits limits;
  Acceptor acceptor;
  std::optional<asio::ssl::context> tls;
  std::vector<std::unique_ptr<Handler>> handlers;  // one per I/O thread
  std::atomic<std::size_t> connections = 0;
};

Error cannot_listen(const Address& address, const error_code& error) {
  return Error(Code::misconfigured, "cannot listen on " + address.host + ":" +
                                        std::to_string(address.port) + ": " + error.message());
}

Result<void> load_tls(Listener& listener, const TlsFiles& files) {
  error_code error;
  listener.tls.emplace(asio::ssl::context::tls_server);
  asio::ssl::context& tls = *listener.tls;
  tls.set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_sslv2 |
                      asio::ssl::context::no_sslv3 | asio::ssl::context::no_tlsv1 |
                      asio::ssl::context::no_tlsv1_1,
                  error);
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
Task<void> serve(Stream stream, Reactor& reactor, Handler& handler, Listener& listener) {
  {
    Connection<Stream> connection(std::move(stream), reactor, handler, listener.limits);
    co_await connection.run();
  }
  listener.connections.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace

struct Server::Parts {
  Parts(Clock& clock, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) reactors.push_back(std::make_unique<Reactor>(clock));
  }

  Task<void> accept(Listener& listener);
  void begin(Socket socket, Listener& listener, std::size_t thread);

  std::vector<std::unique_ptr<Reactor>> reactors;
  std::vector<std::unique_ptr<Listener>> listeners;
  std::vector<std::thread> threads;
};

// Runs on the first I/O thread and hands the connections round.
Task<void> Server::Parts::accept(Listener& listener) {
  asio::basic_waitable_timer<std::chrono::steady_clock,
                             asio::wait_traits<std::chrono::steady_clock>, Executor>
      pause(listener.acceptor.get_executor());
  for (std::size_t next = 0; listener.acceptor.is_open();) {
    const std::size_t thread = next++ % reactors.size();
    error_code error;
    Socket socket(reactors[thread]->context().get_executor());
    co_await listener.acceptor.async_accept(socket, asio::redirect_error(kUseTask, error));
    if (error == asio::error::operation_aborted) co_return;
    if (error) {  // no file descriptors left, most likely: some will be given back
      pause.expires_after(kAcceptAgain);
      co_await pause.async_wait(asio::redirect_error(kUseTask, error));
      continue;
    }
    begin(std::move(socket), listener, thread);
  }
}

void Server::Parts::begin(Socket socket, Listener& listener, std::size_t thread) {
  if (listener.connections.fetch_add(1, std::memory_order_relaxed) >= listener.limits.connections) {
    listener.connections.fetch_sub(1, std::memory_order_relaxed);
    return;  // closed at once
  }
  error_code ignored;
  socket.set_option(asio::ip::tcp::no_delay(true), ignored);
  socket.non_blocking(true, ignored);
  Reactor& reactor = *reactors[thread];
  Handler& handler = *listener.handlers[thread];
  asio::post(
      reactor.context(), [socket = std::move(socket), &reactor, &handler, &listener]() mutable {
        if (reactor.stopping()) {
          listener.connections.fetch_sub(1, std::memory_order_relaxed);
        } else if (listener.tls) {
          asio::co_spawn(reactor.context().get_executor(),
                         serve(Tls(std::move(socket), *listener.tls), reactor, handler, listener),
                         asio::detached);
        } else {
          asio::co_spawn(reactor.context().get_executor(),
                         serve(std::move(socket), reactor, handler, listener), asio::detached);
        }
      });
}

Server::Server(Clock& clock, std::size_t threads)
    : parts_(std::make_unique<Parts>(clock, threads)) {}

Server::~Server() {
  stop(std::chrono::milliseconds(0));
}

Result<std::uint16_t> Server::listen(const Address& address, const std::optional<TlsFiles>& tls,
                                     const Limits& limits, const MakeHandler& make_handler) {
  error_code error;
  const auto ip = asio::ip::make_address(address.host, error);
  if (error) return cannot_listen(address, error);
  auto listener = std::make_unique<Listener>(limits, parts_->reactors.front()->context());
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
  parts_->listeners.push_back(std::move(listener));
  return port;
}

void Server::start() {
  for (auto& each : parts_->listeners) {
    asio::co_spawn(parts_->reactors.front()->context().get_executor(), parts_->accept(*each),
                   asio::detached);
  }
  for (auto& each : parts_->reactors) {
    parts_->threads.emplace_back([&reactor = *each] { reactor.run(); });
  }
}

void Server::stop(std::chrono::milliseconds grace) {
  asio::post(parts_->reactors.front()->context(), [this] {
    error_code ignored;
    for (auto& each : parts_->listeners) each->acceptor.close(ignored);
  });
  for (auto& each : parts_->reactors) {
    asio::post(each->context(), [&reactor = *each, grace] { reactor.stop(grace); });
  }
  for (std::thread& each : parts_->threads) each.join();
  parts_->threads.clear();
}

std::size_t Server::threads() const {
  return parts_->reactors.size();
}

void Server::post(std::size_t thread, std::function<void()> work) {
  asio::post(parts_->reactors[thread]->context(), std::move(work));
}

std::size_t Server::connections() const {
  std::size_t sum = 0;
  for (const auto& each : parts_->listeners)
    sum += each->connections.load(std::memory_order_relaxed);
  return sum;
}

}  // namespace hapax::http
