// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>

#include "deliver/outgoing.hpp"
#include "deliver/transport.hpp"
#include "http/client.hpp"
#include "http/lookups.hpp"

#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hapax::deliver {

// Resolves the store's source numbers to names, which requests to handlers carry.
class SourceNames {
 public:
  virtual ~SourceNames() = default;
  virtual Task<Result<std::string>> of(SourceNo source) = 0;
};

// Posts deliveries over HTTP/1.1, on one I/O thread. Idle connections are pooled per server, up to
// the concurrency of the destination, and closed after a few seconds: a server that closes an idle
// connection would otherwise race with the next request on it.
//
// The status decides as soon as the head of the response has arrived. The first bytes of the body
// are recorded with the attempt, and little more is read, so that the connection can be reused. A
// connection with a longer body is closed.
//
// AttemptResponse::error is a name of http::Trouble, "store-unavailable", or, if the refetch
// failed, "refetch-value" (the event lacks a value that the URL needs), "refetch-status",
// "refetch-too-large", or "refetch-" and a name of http::Trouble.
class HttpTransport final : public Transport {
 public:
  struct Deps {
    Executor executor;
    Clock& clock;
    SourceNames& names;
    std::shared_ptr<const http::ClientTls> tls;
  };
  explicit HttpTransport(const Deps& deps);
  ~HttpTransport() override;  // no send() may be pending

  Task<AttemptResponse> send(const Destination& to, const store::Leased& what) override;

  // Closes connections that have been idle too long. Called periodically.
  void close_idle();
  // Closes all connections. Pending and later sends fail.
  void abort_all();

  std::size_t idle() const;  // number of pooled connections

 private:
  struct PooledConnection;
  using PooledConnectionPtr = std::shared_ptr<PooledConnection>;
  // Registers a connection in busy_ while it is in use.
  class InFlight;

  std::chrono::milliseconds left(BootTime until) const;
  PooledConnectionPtr take(const http::Url& url, const Destination& to);
  void return_to_pool(const PooledConnectionPtr& pooled, std::size_t most);
  Task<std::optional<http::Failure>> connected(http::ClientConnection& connection, BootTime until);
  Task<std::optional<AttemptResponse>> fetch(const Destination& to, const store::Leased& what,
                                             BootTime until, Fetched& into);
  Task<AttemptResponse> post(const Destination& to, const http::Outgoing& request, BootTime until);
  Task<AttemptResponse> post_once(const Destination& to, const http::Outgoing& request,
                                  BootTime until);
  Task<void> discard_body(PooledConnectionPtr pooled, std::size_t most);

  Deps deps_;
  http::Lookups lookups_;
  std::map<std::string, std::vector<PooledConnectionPtr>> idle_;  // by place
  std::list<PooledConnection*> busy_;
  std::size_t discarding_ = 0;
  bool aborted_ = false;
};

}  // namespace hapax::deliver
