// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/request.hpp>
#include <hapax/result.hpp>
#include <hapax/verify.hpp>

#include "async/task.hpp"
#include "http/url.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// HTTP/1.1 client: one connection, sequential requests. Redirects are not followed and nothing is
// retried: only the caller knows whether that is safe.
namespace hapax::http {

// Trusted certificates: those of the system, and of a file. Any number of connections, on any
// threads, may share one.
class ClientTls {
 public:
  // `ca_file` (PEM) is believed too; empty: none. misconfigured: it cannot be read.
  static Result<std::shared_ptr<const ClientTls>> make(const std::string& ca_file = {});
  ~ClientTls();
  ClientTls(const ClientTls&) = delete;
  ClientTls& operator=(const ClientTls&) = delete;

  struct Context;
  Context& context() const { return *context_; }

 private:
  explicit ClientTls(std::unique_ptr<Context> context);
  std::unique_ptr<Context> context_;
};

struct ClientLimits {
  std::chrono::milliseconds connect = std::chrono::seconds(5);  // name, connection and TLS
  // From the first byte of the request to the last one of the answer. An exchange that has to
  // connect first may take `connect` longer.
  std::chrono::milliseconds total = std::chrono::seconds(15);
  std::size_t head = 32 * 1024;    // of the answer, each 1xx before it counted on its own
  std::size_t body = 1024 * 1024;  // of the answer
  // True: whatever the name resolves to, no connection is made to an address of this machine or of
  // a network that is not public (http/address_guard.hpp).
  bool public_only = false;
};

// Views: they are used until exchange() is through. Host and Content-Length are added; headers
// that say where a message ends (Transfer-Encoding, Content-Length) are not for the caller.
struct Outgoing {
  std::string_view method = "POST";
  std::string_view target = "/";
  std::span<const Header> headers = {};
  std::string_view body = {};
};

struct Response {
  int status = 0;
  std::vector<OwnedHeader> headers;
  std::string body;

  // The first header of that name, or null.
  const std::string* find(std::string_view name) const;
};

enum class Trouble : std::uint8_t {
  bad_request,      // a header or target that cannot be sent: it has a line break in it
  unresolved,       // the host has no address
  refused,          // connection refused
  unreachable,      // any other way in which no connection came about
  certificate,      // the other side is not who it should be
  tls,              // the handshake failed in another way
  timed_out,        // connect or total
  closed,           // the connection ended before the answer did
  malformed,        // the answer is not HTTP/1.x, or its end is not beyond doubt
  too_large,        // head or body of the answer
  address_refused,  // the host has no address that limits.public_only allows
};
// "bad-request", "unresolved", "timed-out", ...
std::string_view name(Trouble trouble) noexcept;

struct Failure {
  Trouble trouble = Trouble::closed;
  // Part of the request may have been sent, so it may have taken effect. False: it has not, and
  // asking again is safe.
  bool sent = false;
  std::string detail;  // one sentence for a person, with the address
};

// An answer, of whatever status, or why there is none.
struct Exchanged {
  std::optional<Response> response;
  Failure failure;  // when there is no response
};

class Lookups;

class ClientConnection {
 public:
  // `tls` may be null for an http URL. Of `to`, the target is not looked at. `lookups` must outlive
  // it; null: the system's own way, one name after the other for a whole event loop.
  ClientConnection(const Executor& executor, Url to, ClientLimits limits,
                   std::shared_ptr<const ClientTls> tls = nullptr, Lookups* lookups = nullptr);
  ~ClientConnection();  // closes; no exchange may be under way
  ClientConnection(const ClientConnection&) = delete;
  ClientConnection& operator=(const ClientConnection&) = delete;

  // Nothing, when the connection is open. An old one that is still good stays. Slow DNS lookups
  // time out; the lookup itself continues in the background. `within` takes the place of the limit.
  Task<std::optional<Failure>> connect(
      const std::optional<std::chrono::milliseconds>& within = std::nullopt);

  // One request and its answer; connects first when it has to. What was kept alive and has been
  // closed by the other side in between is noticed before anything is sent, and opened anew.
  Task<Exchanged> exchange(const Outgoing& request);

  // As exchange(), but is through as soon as the head of the answer is in, with what has come of
  // the body by then: never too_large for its sake, however large it says to be. `total` takes the
  // place of the limit. The body is read on by rest(), or never: then the connection is not reused.
  Task<Exchanged> begin(const Outgoing& request, std::chrono::milliseconds total);
  // More of that body, until it ends, is `most` bytes long or the time is over, added to `body`.
  // Whether that is all of it.
  Task<bool> rest(std::string& body, std::size_t most, std::chrono::milliseconds within);
  // Pending operations fail soon, as if timed out.
  void abort();

  // Open, and the next request may use it: the last answer was whole and did not say otherwise.
  bool reusable() const;
  void close();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hapax::http
