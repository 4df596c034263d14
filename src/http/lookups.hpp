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

// Resolves names for one I/O thread. The system's lookup can take long and cannot be cancelled, and
// Asio resolves all names on one thread, so an unresponsive name would delay the others. Here each
// name gets its own thread; concurrent lookups of a name share the result. The end of an event loop
// does not wait for lookups.
class Lookups {
 public:
  explicit Lookups(const Executor& executor);
  ~Lookups();  // before the event loop ends; drops pending callbacks
  Lookups(const Lookups&) = delete;
  Lookups& operator=(const Lookups&) = delete;

  using Addresses = std::vector<boost::asio::ip::address>;
  // Calls `done` later, on the executor's thread. No addresses: the host was not found.
  void resolve(const std::string& host, std::function<void(const Addresses&)> done);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace hapax::http
