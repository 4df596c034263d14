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
// Of TLS 1.2 (those of 1.3 are all good): a key of its own for each connection, so that whoever
// gets the server's key later cannot read what was recorded.
constexpr const char* kCiphers = "ECDHE+AESGCM:ECDHE+CHACHA20:ECDHE+AES";
constexpr int kMaxBacklog = 8192;  // that is taken in at the end

struct Listener {
  Listener(const Limits& given, Door& given_door, asio::io_context& context)
      : limits(given), door(given_door), acceptor(context.get_executor()) {}

  Limits limits;
  Door& door;
  Acceptor acceptor;
  std::optional<asio::ssl::context> tls;
  std::vector<std::unique_ptr<Handler>> handlers;  // one per I/O thread
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
Task<void> serve(Stream stream, Reactor& reactor, Handler& handler, const Limits& limits,
                 Door::Visit visit) {
  Connection<Stream> connection(std::move(stream), reactor, handler, limits, visit);
  co_await connection.run();
}

std::uint64_t key_of(const asio::ip::address& address) {
  const auto key = [](const auto& bytes) {
    return key_of_address({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  };
  return address.is_v4() ? key(address.to_v4().to_bytes()) : key(address.to_v6().to_bytes());
}

}  // namespace

struct Server::Parts {
  Parts(Clock& clock, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) reactors.push_back(std::make_unique<Reactor>(clock));
  }

  using Peer = asio::ip::tcp::endpoint;

  Task<void> accept(Listener& listener);
  void begin(Socket socket, const Peer& peer, Listener& listener, std::size_t thread);
  void close_doors();

  std::vector<std::unique_ptr<Door>> doors;  // outlive what waits in a reactor
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
    Peer peer;
    co_await listener.acceptor.async_accept(socket, peer, asio::redirect_error(kUseTask, error));
    if (error == asio::error::operation_aborted) co_return;
    if (error) {  // no file descriptors left, most likely: some will be given back
      pause.expires_after(kAcceptAgain);
      co_await pause.async_wait(asio::redirect_error(kUseTask, error));
      continue;
    }
    begin(std::move(socket), peer, listener, thread);
  }
}

void Server::Parts::begin(Socket socket, const Peer& peer, Listener& listener, std::size_t thread) {
  std::optional<Door::Visit> visit = listener.door.enter(key_of(peer.address()));
  if (!visit) return;  // closed at once
  error_code ignored;
  socket.set_option(asio::ip::tcp::no_delay(true), ignored);
  socket.non_blocking(true, ignored);
  Reactor& reactor = *reactors[thread];
  Handler& handler = *listener.handlers[thread];
  asio::post(reactor.context(), [socket = std::move(socket), visit = std::move(*visit), &reactor,
                                 &handler, &listener]() mutable {
    if (reactor.stopping()) return;
    const auto here = reactor.context().get_executor();
    if (listener.tls) {
      Tls stream(std::move(socket), *listener.tls);
      asio::co_spawn(here,
                     serve(std::move(stream), reactor, handler, listener.limits, std::move(visit)),
                     asio::detached);
    } else {
      asio::co_spawn(here,
                     serve(std::move(socket), reactor, handler, listener.limits, std::move(visit)),
                     asio::detached);
    }
  });
}

// Who has connected and was not accepted yet believes to be served: he is, one last time.
void Server::Parts::close_doors() {
  error_code error;
  for (auto& each : listeners) {
    each->acceptor.cancel(error);
    each->acceptor.non_blocking(true, error);
    for (int count = 0; count < kMaxBacklog && !error; ++count) {
      const std::size_t thread = static_cast<std::size_t>(count) % reactors.size();
      Socket socket(reactors[thread]->context().get_executor());
      Peer peer;
      each->acceptor.accept(socket, peer, error);
      if (!error) begin(std::move(socket), peer, *each, thread);
    }
    each->acceptor.close(error);
  }
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
  Door& door = *parts_->doors.emplace_back(std::make_unique<Door>(limits.door));
  auto listener = std::make_unique<Listener>(limits, door, parts_->reactors.front()->context());
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
  if (!parts_->threads.empty()) {
    std::promise<void> closed;
    asio::post(parts_->reactors.front()->context(), [&] {
      parts_->close_doors();
      closed.set_value();
    });
    closed.get_future().wait();
  }
  for (auto& each : parts_->reactors) {
    asio::post(each->context(), [&reactor = *each, grace] { reactor.stop(grace); });
  }
  for (std::thread& each : parts_->threads) each.join();
  parts_->threads.clear();
}

std::size_t Server::threads() const {
  return parts_->reactors.size();
}

Executor Server::executor(std::size_t thread) const {
  return parts_->reactors[thread]->context().get_executor();
}

void Server::post(std::size_t thread, std::function<void()> work) {
  asio::post(parts_->reactors[thread]->context(), std::move(work));
}

std::size_t Server::connections() const {
  std::size_t sum = 0;
  for (const auto& each : parts_->doors) sum += each->inside();
  return sum;
}

std::size_t Server::turned_away() const {
  std::size_t sum = 0;
  for (const auto& each : parts_->doors) sum += each->turned_away();
  return sum;
}

}  // namespace hapax::http
