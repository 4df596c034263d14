// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "daemon/config.hpp"
#include "env/log.hpp"

#include <memory>

namespace hapax::daemon {

// A server, made from a configuration: the store, the listeners and background maintenance.
class Daemon {
 public:
  // Opens the store and the ports; nothing is served yet. The error says what to do.
  static Result<std::unique_ptr<Daemon>> make(Config config, Log& log);
  ~Daemon();
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  void start();
  // {"ready":true,...} with the real ports, in one line.
  std::string ready_line() const;
  // Serves the sources of `config` from now on. What needs a restart (listeners, store, token) is
  // left as it is and said in the log. An error leaves everything as it was.
  Result<void> reload(Config config);
  // Answers what it accepted, then ends.
  void stop();

 private:
  struct Impl;
  explicit Daemon(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hapax::daemon
