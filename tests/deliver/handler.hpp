// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "http/raw_server.hpp"

#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace hapax::test {

// One request as received.
struct ReceivedRequest {
  std::string head;  // request line and headers
  std::string body;

  // The first header with that name, case-insensitive; "" if there is none.
  std::string header(std::string_view name) const;
  std::string line() const { return head.substr(0, head.find('\r')); }
};

// A small scripted HTTP server for any number of connections.
class Handler {
 public:
  // Responds on `fd`. Returns whether the connection stays open for the next request.
  using Answer = std::function<bool(int fd, const ReceivedRequest& received)>;

  // `keeps`: whether the received requests are recorded.
  explicit Handler(Answer answer, bool keeps = true);
  ~Handler();  // closes all connections
  Handler(const Handler&) = delete;
  Handler& operator=(const Handler&) = delete;

  std::string url(const std::string& path = "/hook") const;
  std::uint16_t port() const { return port_; }
  std::vector<ReceivedRequest> received() const;
  std::size_t count() const;
  int connections() const;
  // Waits for `count` requests; false on a timeout.
  bool wait_for(std::size_t count) const;

 private:
  void accept_all();
  void serve(int fd);

  const Answer answer_;
  const bool keeps_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  mutable std::mutex mutex_;
  mutable std::condition_variable came_;
  std::vector<ReceivedRequest> received_;
  std::list<int> open_;
  std::size_t serving_ = 0;  // number of threads
  int connections_ = 0;
  std::thread acceptor_;
};

// A complete response. `headers` are lines that end with \r\n.
std::string answer_of(int status, std::string_view body = "", std::string_view headers = "");
// Sends the response and returns true, which keeps the connection open.
bool reply(int fd, int status, std::string_view body = "", std::string_view headers = "");

}  // namespace hapax::test
