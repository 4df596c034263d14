// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace hapax::test {

// Lets a test decide what happens while another thread moves the log into the database. Waits end
// when the thing happens; a wait that takes as long as no machine needs is a failure of the test.
class CheckpointGate {
 public:
  // From now on, threads other than the caller's stop at their next write to a database, and at
  // their next sync of one...
  void close();
  // ... until now...
  void open();
  // ... or until one of them has ended a checkpoint: the gate is closed again before that thread
  // syncs the database. Waits for that. False: none has ended.
  bool open_for_one_checkpoint();

  // Whether a thread stands at the gate.
  bool has_visitor() const;
  // Waits until one does. False: none came.
  bool wait_for_visitor();
  // Lets the threads that stand there pass, and closes it again.
  void let_visitors_pass();

  // For the VFS.
  void pass();
  void note_end();  // of a checkpoint

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool closed_ = false;
  bool closes_at_end_ = false;
  std::thread::id keeper_;
  int visitors_ = 0;
};

}  // namespace hapax::test
