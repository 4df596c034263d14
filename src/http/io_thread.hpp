// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>

#include "async/task.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/steady_timer.hpp>

#include <list>
#include <string>

namespace hapax::http {

// A connection whose deadline is checked by its I/O thread.
class HasDeadline {
 public:
  virtual ~HasDeadline() = default;
  virtual void cancel() = 0;  // ends its pending network operations

  BootTime deadline = BootTime::max();
  bool idle = false;     // between two requests
  bool expired = false;  // the deadline has passed, and cancel() was called
};

// One I/O thread. Deadlines are swept four times a second instead of using a timer per connection,
// which would cost more than the rest of a request; so a deadline may be up to 250 ms late.
class IoThread {
 public:
  explicit IoThread(Clock& clock);

  boost::asio::io_context& context() { return context_; }
  void run();  // returns after stop(), when the last connection is closed

  // The members below are for the I/O thread only.
  BootTime now() const { return now_; }
  const std::string& date() const { return date_; }  // of the Date header
  bool stopping() const { return stopping_; }
  std::list<HasDeadline*>::iterator add(HasDeadline& connection);
  void remove(std::list<HasDeadline*>::iterator place);
  void stop(BootTime grace);

 private:
  void tick();
  void sweep_deadlines();

  Clock& clock_;
  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<Executor> open_;
  boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                    boost::asio::wait_traits<std::chrono::steady_clock>, Executor>
      timer_;
  std::list<HasDeadline*> connections_;
  BootTime now_{};
  BootTime end_ = BootTime::max();  // of the grace period
  std::string date_;
  bool stopping_ = false;
};

}  // namespace hapax::http
