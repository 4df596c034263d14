// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace hapax::test {

// Lets a test stop another thread's checkpoint (writes and syncs of the database file) at a chosen
// point. Waits end when the event happens; a wait that exceeds kLongTimeout fails the test.
class CheckpointGate {
 public:
  // From now on, threads other than the caller's stop before their next write to a database and
  // before their next sync of one.
  void close();
  // Lets all threads pass again.
  void open();
  // Opens the gate until one thread has finished a checkpoint, and closes it before that thread
  // syncs the database. Waits for that. Returns false if no checkpoint finished.
  bool open_for_one_checkpoint();

  // Returns whether a thread is stopped at the gate.
  bool has_waiter() const;
  // Waits until a thread is stopped. Returns false on a time-out.
  bool wait_for_waiter();
  // Lets the stopped threads pass, then closes the gate again.
  void release_waiters();

  // Called by the VFS.
  void pass();
  void note_end();  // of a checkpoint

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool closed_ = false;
  bool closes_at_end_ = false;
  std::thread::id owner_;
  int waiters_ = 0;
};

}  // namespace hapax::test
