// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "gateway/serve.hpp"

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace hapax::test {

// Threads that behave like real senders: each event is retried until it is acknowledged.
class Senders {
 public:
  struct Counts {
    std::size_t acknowledged = 0;  // events
    std::size_t again = 0;         // acknowledged as duplicates: an earlier response was lost
    std::size_t refused = 0;       // responses with status 503
    std::size_t broken = 0;        // connections that ended without a response
    std::vector<std::size_t> refused_of;       // by thread
    std::vector<std::size_t> acknowledged_of;  // by thread
  };

  Senders(const Serve& serve, int count);
  ~Senders();  // calls stop()
  Senders(const Senders&) = delete;
  Senders& operator=(const Senders&) = delete;

  Counts counts();
  // Waits until the condition holds; false after ten minutes.
  bool wait_until(const std::function<bool(const Counts&)>& holds);
  // Wait until every thread has got `more` new acknowledgements, or one new 503.
  bool wait_for_acknowledgements(std::size_t more = 2);
  bool wait_for_refusals();
  // The threads end after the response to their current request, whatever its status.
  void stop();

  // After stop(): expects every acknowledged event in the store, once and with its bytes, and no
  // event that was not sent. Prints the counts.
  void expect_all_in(StoreView& store);

 private:
  void run(std::size_t thread);
  bool send_once(RawClient& client, std::size_t thread, const std::string& id);
  bool wait_for_more(std::vector<std::size_t> Counts::*which, std::size_t more);

  const Serve& serve_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Counts counts_;
  std::map<std::string, std::string> acknowledged_;
  std::set<std::string> sent_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace hapax::test
