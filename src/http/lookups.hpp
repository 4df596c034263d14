// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "async/task.hpp"

#include <boost/asio/ip/address.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace hapax::http {

// Looks names up for one I/O thread. The system's look-up can take long and cannot be broken off,
// and Asio has one thread for all of them, where a name that nobody answers for would hold up the
// others. Here each name has a thread of its own, and one at a time: who asks for the same name
// meanwhile gets the same answer. A loop that ends waits for none of them.
class Lookups {
 public:
  explicit Lookups(const Executor& executor);
  ~Lookups();  // before the loop is gone; who waits is not told
  Lookups(const Lookups&) = delete;
  Lookups& operator=(const Lookups&) = delete;

  using Addresses = std::vector<boost::asio::ip::address>;
  // Calls `done` on the thread of the executor, later. Empty: there is no host of that name.
  void resolve(const std::string& host, std::function<void(const Addresses&)> done);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace hapax::http
