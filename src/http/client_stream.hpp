// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "http/client.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

// The transport of a client connection: name lookup, socket, TLS and timeouts.
namespace hapax::http {

struct ClientTls::Context {
  boost::asio::ssl::context tls{boost::asio::ssl::context::tls_client};
};

class ClientStream {
 public:
  ClientStream(const Executor& executor, const Url& to, std::shared_ptr<const ClientTls> tls,
               bool public_only = false, Lookups* lookups = nullptr);
  ~ClientStream();
  ClientStream(const ClientStream&) = delete;
  ClientStream& operator=(const ClientStream&) = delete;

  // Starts a timeout for the operations that follow. When it expires, the socket is closed.
  void start_clock(std::chrono::milliseconds limit);
  void stop_clock();
  bool expired() const { return watch_->expired; }

  Task<std::optional<Failure>> open(std::chrono::milliseconds limit);
  bool is_open() const { return watch_->socket.is_open(); }
  void close();
  // True if the peer has neither sent data nor closed. `used`: a response has been read.
  bool is_quiet(bool used);

  struct IoResult {
    std::size_t bytes = 0;
    boost::system::error_code error;
  };
  Task<IoResult> read_some(std::span<char> room);
  Task<IoResult> write(std::string_view bytes);

 private:
  using Socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, Executor>;
  using Timer = boost::asio::basic_waitable_timer<
      std::chrono::steady_clock, boost::asio::wait_traits<std::chrono::steady_clock>, Executor>;
  using Endpoints = std::vector<boost::asio::ip::tcp::endpoint>;
  // Shared with the timer's handler, which may outlive the stream.
  struct Watch {
    explicit Watch(const Executor& executor) : socket(executor), timer(executor) {}
    Socket socket;
    Timer timer;
    std::uint64_t generation = 0;
    bool expired = false;
  };

  Task<std::optional<Failure>> open_within();
  Task<std::optional<Failure>> resolve(Endpoints& found);
  Task<std::optional<Failure>> look_up(Endpoints& found);
  Task<std::optional<Failure>> tls_handshake();
  Failure failure(Trouble trouble, const std::string& why) const;

  const Url to_;
  const bool public_only_;
  Lookups* const lookups_;
  std::shared_ptr<const ClientTls> tls_;
  std::shared_ptr<Watch> watch_;
  std::optional<boost::asio::ssl::stream<Socket&>> secure_;
};

}  // namespace hapax::http
