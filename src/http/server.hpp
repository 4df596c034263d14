// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>
#include <hapax/error.hpp>

#include "async/task.hpp"
#include "http/connection_limiter.hpp"
#include "http/framing.hpp"
#include "http/message.hpp"
#include "http/tls_files.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

namespace hapax::http {

struct Limits {
  HeadLimits head;
  std::chrono::milliseconds idle = std::chrono::seconds(75);  // between two requests
  // Limit of `idle` until the handler calls PeerProbe::mark_trusted(). nullopt: all clients are
  // trusted.
  std::optional<std::chrono::milliseconds> stranger_idle = {};
  std::chrono::milliseconds head_time = std::chrono::seconds(10);     // of a request's head
  std::chrono::milliseconds request_time = std::chrono::seconds(30);  // of the whole request
  std::chrono::milliseconds write_time = std::chrono::seconds(30);    // of a response
  ConnectionLimits limiter = {};                                      // of one listener
};

// Request handler. Each I/O thread has its own, which is only used on that thread.
class Handler {
 public:
  virtual ~Handler() = default;

  // Headers received: returns how to go on, or an early response.
  virtual std::variant<ReadBody, Reply> on_headers(const Head& head, std::string_view peer) = 0;
  // Answers a complete request, which stays valid until the reply is returned, with the context
  // that on_headers() returned for it.
  virtual Task<Reply> answer(const Incoming& request) = 0;
  // A request was rejected before answer(): for metrics and the log.
  virtual void refused(Refusal why, std::string_view peer) = 0;
};

using MakeHandler = std::function<std::unique_ptr<Handler>(std::size_t thread)>;

struct Address {
  std::string host;        // an IP address
  std::uint16_t port = 0;  // 0: any free port
};

// An HTTP/1.1 server: listeners, and I/O threads with an event loop each that share the connections
// of all listeners.
class Server {
 public:
  Server(Clock& clock, std::size_t threads);
  ~Server();  // stops without a grace period
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Opens the port and returns its number. Connections wait until start(). Fails with misconfigured
  // if the address is in use or not local, or the TLS files cannot be used.
  Result<std::uint16_t> listen(const Address& address, const std::optional<TlsFiles>& tls,
                               const Limits& limits, const MakeHandler& make_handler);

  void start();

  // Graceful shutdown: serves the backlog, closes ports and idle connections, drains requests for
  // `grace`, then closes the rest. Responses waiting for the store are awaited.
  void stop(std::chrono::milliseconds grace);

  std::size_t threads() const;
  Executor executor(std::size_t thread) const;
  // Posts `work` to that I/O thread.
  void post(std::size_t thread, std::function<void()> work);
  std::size_t connections() const;  // currently open, of all listeners
  std::size_t rejected() const;     // connections over a limit, since the start

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hapax::http
