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

// What the store calls a source is a number; handlers are told its name.
class SourceNames {
 public:
  virtual ~SourceNames() = default;
  virtual Task<Result<std::string>> of(SourceNo source) = 0;
};

// Posts deliveries over HTTP/1.1, from one I/O thread. Connections are kept for the next delivery
// to the same place, as many as a destination may have under way, and not for long: a handler that
// closes what is idle must not meet a request that has just set out.
//
// An answer counts as soon as its head is in. Of its body the first bytes are kept for the record
// and little more is read, so that the connection can be used again; a longer one costs the
// connection.
//
// AttemptResponse::error is a name of http::Trouble, "store-unavailable", or, where what was to be
// delivered could not be fetched, "refetch-value" (the event lacks what the URL is made of),
// "refetch-status", "refetch-too-large", or "refetch-" and a name of http::Trouble.
class HttpTransport final : public Transport {
 public:
  struct Deps {
    Executor executor;
    Clock& clock;
    SourceNames& names;
    std::shared_ptr<const http::ClientTls> tls;
  };
  explicit HttpTransport(const Deps& deps);
  ~HttpTransport() override;  // when no response is awaited any more

  Task<AttemptResponse> send(const Destination& to, const store::Leased& what) override;

  // Closes idle connections. Called periodically.
  void close_idle();
  // Pending sends fail; all connections are closed.
  void abort_all();

  std::size_t idle() const;  // connections that are kept

 private:
  struct PooledConnection;
  using PooledConnectionPtr = std::shared_ptr<PooledConnection>;
  // On its way: the place in busy_ goes with it.
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
