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

// Threads that send as real senders do: an event is sent again until it is acknowledged.
class Senders {
 public:
  struct Counts {
    std::size_t acknowledged = 0;  // events
    std::size_t again = 0;    // of them, known already when they were: the answer had been lost
    std::size_t refused = 0;  // answers 503
    std::size_t broken = 0;   // connections that ended without an answer
    std::vector<std::size_t> refused_of;       // by thread
    std::vector<std::size_t> acknowledged_of;  // by thread
  };

  Senders(const Serve& serve, int count);
  ~Senders();  // as stop()
  Senders(const Senders&) = delete;
  Senders& operator=(const Senders&) = delete;

  Counts counts();
  // Until it holds; false after ten minutes, which is for ever.
  bool wait_until(const std::function<bool(const Counts&)>& holds);
  // Until every thread has had an event acknowledged, or been refused, that it sent after now.
  bool wait_for_acknowledgements(std::size_t more = 2);
  bool wait_for_refusals();
  // They end when what they are sending now was answered, whatever the answer.
  void stop();

  // After stop(): everything acknowledged is in the store, with its bytes, once; and nothing that
  // was not sent. Prints the counts.
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
