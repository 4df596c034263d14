// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>

#include "deliver/courier.hpp"
#include "deliver/outgoing.hpp"
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
// Answer::error is a name of http::Trouble, "store-unavailable", or, where what was to be delivered
// could not be fetched, "refetch-value" (the event lacks what the URL is made of),
// "refetch-status", "refetch-too-large", or "refetch-" and a name of http::Trouble.
class HttpCourier final : public Courier {
 public:
  struct With {
    Executor executor;
    Clock& clock;
    SourceNames& names;
    std::shared_ptr<const http::ClientTls> tls;
  };
  explicit HttpCourier(const With& with);
  ~HttpCourier() override;  // when nobody waits for an answer any more

  Task<Answer> carry(const Destination& to, const store::Leased& what) override;

  // Closes connections that nobody has used for a while. Now and then.
  void tidy();
  // Who waits for an answer gets none; all connections are closed.
  void abandon();

  std::size_t idle() const;  // connections that are kept

 private:
  struct Line;
  using LinePtr = std::shared_ptr<Line>;
  // On its way: the place in busy_ goes with it.
  class Trip;

  std::chrono::milliseconds left(BootTime until) const;
  LinePtr take(const http::Url& url, const Destination& to);
  void give_back(const LinePtr& line, std::size_t most);
  Task<std::optional<http::Failure>> connected(http::ClientConnection& connection, BootTime until);
  Task<std::optional<Answer>> fetch(const Destination& to, const store::Leased& what,
                                    BootTime until, Fetched& into);
  Task<Answer> post(const Destination& to, const http::Outgoing& request, BootTime until);
  Task<Answer> post_once(const Destination& to, const http::Outgoing& request, BootTime until);
  Task<void> read_over(LinePtr line, std::size_t most);

  With with_;
  http::Lookups lookups_;
  std::map<std::string, std::vector<LinePtr>> idle_;  // by place
  std::list<Line*> busy_;
  std::size_t reading_over_ = 0;
  bool abandoned_ = false;
};

}  // namespace hapax::deliver
