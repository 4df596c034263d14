// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/error.hpp>
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

// Trusted certificates: the system's, and optionally those of a file. Any number of connections on
// any threads may share an instance.
class ClientTls {
 public:
  // `ca_file` (PEM) is trusted in addition; empty: none. Fails with misconfigured if certificates
  // cannot be read.
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
  std::chrono::milliseconds connect = std::chrono::seconds(5);  // DNS, TCP and TLS
  // From the first byte of the request to the last byte of the response. An exchange that must
  // connect first may take `connect` longer.
  std::chrono::milliseconds total = std::chrono::seconds(15);
  std::size_t head = 32 * 1024;    // of the response; each 1xx before it counts separately
  std::size_t body = 1024 * 1024;  // of the response
  // If true, addresses of this machine and of networks that are not public are never connected to,
  // whatever the name resolves to (http/address_guard.hpp).
  bool public_only = false;
};

// Views, which must be valid until exchange() completes. Host and Content-Length are added; callers
// must not pass framing headers (Transfer-Encoding, Content-Length).
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
  bad_request,      // a header or target that cannot be sent, such as one with a line break
  unresolved,       // the host has no address
  refused,          // connection refused
  unreachable,      // any other failure to connect
  certificate,      // the server's certificate is not trusted
  tls,              // the handshake failed for another reason
  timed_out,        // connect or total
  closed,           // the connection closed before the response was complete
  malformed,        // the response is not HTTP/1.x, or its framing is ambiguous
  too_large,        // head or body of the response
  address_refused,  // the host has no address that limits.public_only allows
};
// "bad-request", "unresolved", "timed-out", ...
std::string_view name(Trouble trouble) noexcept;

struct Failure {
  Trouble trouble = Trouble::closed;
  // True: part of the request may have been sent, so it may have taken effect. False: it has not,
  // and a retry is safe.
  bool sent = false;
  std::string detail;  // one sentence for display, with the address
};

// A response of any status, or a failure.
struct Exchanged {
  std::optional<Response> response;
  Failure failure;  // when there is no response
};

class Lookups;

class ClientConnection {
 public:
  // `tls` may be null for an http URL. The target of `to` is ignored. `lookups` must outlive the
  // connection; if null, Asio's resolver is used, which resolves one name at a time per event loop.
  ClientConnection(const Executor& executor, Url to, ClientLimits limits,
                   std::shared_ptr<const ClientTls> tls = nullptr, Lookups* lookups = nullptr);
  ~ClientConnection();  // closes; no exchange may be running
  ClientConnection(const ClientConnection&) = delete;
  ClientConnection& operator=(const ClientConnection&) = delete;

  // Returns nullopt once the connection is open. A connection that is still usable is kept. Slow
  // DNS lookups time out; the lookup itself continues in the background. `within` overrides the
  // limit.
  Task<std::optional<Failure>> connect(
      const std::optional<std::chrono::milliseconds>& within = std::nullopt);

  // Sends one request and reads the response; connects first if necessary. A kept-alive connection
  // that the peer has closed is detected before anything is sent, and reopened.
  Task<Exchanged> exchange(const Outgoing& request);

  // Like exchange(), but completes once the head of the response is received, with the part of the
  // body received by then. The body is never too_large, whatever its announced length. `total`
  // overrides the limit. The rest of the body is read by rest(); otherwise the connection is not
  // reused.
  Task<Exchanged> begin(const Outgoing& request, std::chrono::milliseconds total);
  // Appends more of that body to `body` until the body ends, `body` has `most` bytes or the time
  // expires. Returns true if the body is complete.
  Task<bool> rest(std::string& body, std::size_t most, std::chrono::milliseconds within);
  // Pending operations fail soon, as if timed out.
  void abort();

  // The connection is open and can be used for the next request: the last response was complete and
  // allows it.
  bool reusable() const;
  void close();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hapax::http
