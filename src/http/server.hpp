// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>
#include <hapax/result.hpp>

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
  // Also at most, until the handler has said PeerProbe::mark_trusted(). nullopt: all clients are
  // trusted.
  std::optional<std::chrono::milliseconds> stranger_idle = {};
  std::chrono::milliseconds head_time = std::chrono::seconds(10);     // of a request's head
  std::chrono::milliseconds request_time = std::chrono::seconds(30);  // of the whole request
  std::chrono::milliseconds write_time = std::chrono::seconds(30);    // of an answer
  ConnectionLimits limiter = {};                                      // of one listener
};

// Request handler. Each I/O thread has its own, which is only used on that thread.
class Handler {
 public:
  virtual ~Handler() = default;

  // Headers received: returns the body limit, or an early response.
  virtual std::variant<std::size_t, Reply> on_headers(const Head& head, std::string_view peer) = 0;
  // The whole request. It stays as it is until the answer is there.
  virtual Task<Reply> answer(const Incoming& request) = 0;
  // A request that was refused before it came to answer(): for counts and the log.
  virtual void refused(Refusal why, std::string_view peer) = 0;
};

using MakeHandler = std::function<std::unique_ptr<Handler>(std::size_t thread)>;

struct Address {
  std::string host;        // an IP address
  std::uint16_t port = 0;  // 0: any that is free
};

// An HTTP/1.1 server: I/O threads, each with an event loop of its own, and listeners whose
// connections they share.
class Server {
 public:
  Server(Clock& clock, std::size_t threads);
  ~Server();  // stops, without grace
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Opens the port and says which one it is. Connections wait until start(). misconfigured: the
  // address is taken or is not this machine's, or the TLS files cannot be used.
  Result<std::uint16_t> listen(const Address& address, const std::optional<TlsFiles>& tls,
                               const Limits& limits, const MakeHandler& make_handler);

  void start();

  // Graceful shutdown: serves the backlog, closes ports and idle connections, drains requests for
  // `grace`, then closes the rest. Responses waiting for the store are awaited.
  void stop(std::chrono::milliseconds grace);

  std::size_t threads() const;
  Executor executor(std::size_t thread) const;
  // Runs `work` on that I/O thread, soon.
  void post(std::size_t thread, std::function<void()> work);
  std::size_t connections() const;  // now, of all listeners
  std::size_t rejected() const;     // connections over a limit, since the start

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hapax::http
