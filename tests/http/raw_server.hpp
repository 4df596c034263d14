// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "support/eventually.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

namespace hapax::test {

// A listening socket on the loopback address with a backlog of `waiting`; sets `port`.
inline int listen_anywhere(int waiting, std::uint16_t& port) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const raw = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener, raw, size) != 0 || listen(listener, waiting) != 0) std::abort();
  if (getsockname(listener, raw, &size) != 0) std::abort();
  port = ntohs(address.sin_port);
  return listener;
}

// A server that runs the test's function for each connection, one connection after the other.
class RawServer {
 public:
  // `number` counts the connections from 1. The connection is closed when the function returns.
  using Serve = std::function<void(int fd, int number)>;

  explicit RawServer(Serve serve) : serve_(std::move(serve)) {
    listener_ = listen_anywhere(16, port_);
    thread_ = std::thread([this] { run(); });
  }
  ~RawServer() {
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
  }
  RawServer(const RawServer&) = delete;
  RawServer& operator=(const RawServer&) = delete;

  std::uint16_t port() const { return port_; }

 private:
  void run() {
    for (int number = 1;; ++number) {
      const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) return;
      serve_(fd, number);
      close(fd);
    }
  }

  Serve serve_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

inline void write_text(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = send(fd, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
}

// Shuts down sending. Returns true once the peer's kernel has acknowledged the FIN: from then on
// the peer reads the end of the stream.
[[nodiscard]] inline bool end_sending(int fd) {
  shutdown(fd, SHUT_WR);
  return eventually([fd] {
    tcp_info info{};
    socklen_t size = sizeof info;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return true;
    return info.tcpi_state != TCP_ESTABLISHED && info.tcpi_state != TCP_FIN_WAIT1;
  });
}

// Reads until the peer closes.
inline void wait_for_end(int fd) {
  char byte = 0;
  while (recv(fd, &byte, 1, 0) > 0) {
  }
}

// Reads one request with its body; "" if the peer closes earlier.
inline std::string read_request(int fd) {
  std::string text;
  std::size_t whole = 0;
  while (whole == 0 || text.size() < whole) {
    char byte = 0;
    if (recv(fd, &byte, 1, 0) <= 0) return "";
    text += byte;
    if (whole != 0 || !text.ends_with("\r\n\r\n")) continue;
    const std::size_t length = text.find("Content-Length: ");
    whole = text.size();
    if (length != std::string::npos) whole += std::stoul(text.substr(length + 16));
  }
  return text;
}

}  // namespace hapax::test
