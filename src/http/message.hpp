// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/verify.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hapax::http {

// The request line and the headers, as received: views into the connection's buffer.
struct Head {
  std::string_view method;
  std::string_view target;  // origin form: begins with '/'
  std::vector<Header> headers;
  bool old = false;  // HTTP/1.0
  bool keep_alive = false;
  bool expects_continue = false;
  bool chunked = false;
  std::uint64_t length = 0;  // of the body, when it is not chunked

  std::string_view path() const { return target.substr(0, target.find('?')); }
  std::string_view query() const {  // without the '?'
    const std::size_t mark = target.find('?');
    return mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
  }
  // The first header of that name, or null.
  const Header* find(std::string_view name) const;
};

// The connection of a request that is being answered.
class PeerProbe {
 public:
  virtual ~PeerProbe() = default;
  // True if the peer has stopped sending and has most likely left. Makes a system call, so it is
  // for handlers that wait.
  virtual bool peer_closed() = 0;
  // Marks the client as authenticated: Limits::idle applies from now on.
  virtual void mark_trusted() = 0;
};

// What a handler found for a request from its headers: Handler::on_headers() returns it and
// answer() receives it. Each handler derives a type of its own.
struct RequestContext {};

// A request that passed the framing checks and the limits.
struct Incoming {
  const Head& head;
  std::string_view body;       // with kBodyPadding readable bytes after it
  std::string_view peer;       // the peer's address
  PeerProbe* probe = nullptr;  // may be null
  const RequestContext* context = nullptr;
};

struct Reply {
  int status = 200;
  std::string_view content_type = {};  // static storage; empty: none
  std::string body = {};
  std::vector<OwnedHeader> headers = {};
  std::function<void()> unsent = {};      // called if the reply is not fully written; may be empty
  std::shared_ptr<const void> held = {};  // released once the reply is written or has failed
};

// The decision to read the body of a request and answer it.
struct ReadBody {
  std::size_t limit = 0;
  std::shared_ptr<const RequestContext> context = {};
};

// The reason phrase: "OK", "Bad Request". Empty for an unknown status.
std::string_view status_text(int status);

}  // namespace hapax::http
