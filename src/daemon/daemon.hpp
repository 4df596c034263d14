// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "daemon/config.hpp"
#include "env/log.hpp"

#include <memory>

namespace hapax::daemon {

// A server built from a configuration: the store, the listeners and background maintenance.
class Daemon {
 public:
  // Opens the store and the ports; nothing is served yet. The error contains the remedy.
  static Result<std::unique_ptr<Daemon>> make(Config config, Log& log);
  ~Daemon();
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  void start();
  // {"ready":true,...} with the real ports, in one line.
  std::string ready_line() const;
  // Applies a new configuration. Settings that need a restart (listeners, connection limits, store,
  // data directory, admin token) are unchanged and logged. On an error nothing changes.
  Result<void> reload(Config config);
  // Graceful shutdown: answers accepted requests, then returns.
  void stop();

 private:
  struct Impl;
  explicit Daemon(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hapax::daemon
