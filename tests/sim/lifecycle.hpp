// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "sim/timeline.hpp"

#include <boost/asio/io_context.hpp>

#include <memory>
#include <string>

namespace hapax::sim {

// One process: an event loop and a name. Its scheduled work ends with it. While it is stalled
// (SIGSTOP, or a long pause of the machine) the work waits and runs late.
class Lifecycle {
 public:
  Lifecycle(Timeline& timeline, std::string name);
  ~Lifecycle();
  Lifecycle(const Lifecycle&) = delete;
  Lifecycle& operator=(const Lifecycle&) = delete;

  Timeline& timeline() { return timeline_; }
  BootTime now() const { return timeline_.now(); }
  const std::string& name() const { return name_; }
  boost::asio::io_context& context() { return *context_; }
  void note(std::string_view what) { timeline_.note(name_, what); }

  void at(BootTime when, std::function<void()> what);
  void in(BootTime delay, std::function<void()> what) { at(now() + delay, std::move(what)); }

  void stall(BootTime until) { stalled_until_ = until; }
  bool stalled() const { return now() < stalled_until_; }

  // Expires when the process ends.
  std::weak_ptr<Lifecycle*> weak() const { return self_; }

  // Runs all ready work of this instant. Returns false if there was none.
  bool poll();
  // Ends the process and destroys the contents of its event loop.
  void die() { context_.reset(); }

 private:
  Timeline& timeline_;
  const std::string name_;
  BootTime stalled_until_{};
  std::unique_ptr<boost::asio::io_context> context_;
  std::shared_ptr<Lifecycle*> self_;
};

}  // namespace hapax::sim
