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

// One request as it came.
struct Heard {
  std::string head;  // request line and headers
  std::string body;

  // The first header of that name, in any case; "" when it is not there.
  std::string header(std::string_view name) const;
  std::string line() const { return head.substr(0, head.find('\r')); }
};

// A small HTTP server that does what the test says, on as many connections as come.
class Handler {
 public:
  // Answers on `fd`. True: the connection stays open for the next request.
  using Answer = std::function<bool(int fd, const Heard& heard)>;

  // `keeps`: what it hears is there afterwards.
  explicit Handler(Answer answer, bool keeps = true);
  ~Handler();  // cuts all connections
  Handler(const Handler&) = delete;
  Handler& operator=(const Handler&) = delete;

  std::string url(const std::string& path = "/hook") const;
  std::uint16_t port() const { return port_; }
  std::vector<Heard> heard() const;
  std::size_t count() const;
  int connections() const;
  // True: so many came before a generous time was over.
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
  std::vector<Heard> heard_;
  std::list<int> open_;
  std::size_t serving_ = 0;  // threads
  int connections_ = 0;
  std::thread acceptor_;
};

// A whole answer. `headers` are lines that end with \r\n.
std::string answer_of(int status, std::string_view body = "", std::string_view headers = "");
// Says it and keeps the connection.
bool reply(int fd, int status, std::string_view body = "", std::string_view headers = "");

}  // namespace hapax::test
