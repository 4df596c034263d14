// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "compliance/inbox_suite.hpp"
#include "crash/fault_shapes.hpp"
#include "support/world.hpp"

#include <functional>
#include <memory>
#include <string>

// An inbox in a SQLite file on a failing disk.
namespace hapax::test {

// The constructor opens the file, which must succeed.
class FileInbox final : public InboxSubject {
 public:
  // `passed`: the time since the file was first opened.
  FileInbox(std::string path, milliseconds passed, const std::string& boot_id = "boot-1");

  const Driver& driver() override { return driver_; }
  void advance(milliseconds by) override;
  void jump_wall(milliseconds by) override { clock_.jump_wall(by); }
  void restart() override;

  milliseconds passed() const { return passed_; }
  void close() { driver_ = {}; }

 private:
  std::string path_;
  ManualClock clock_;
  milliseconds passed_{};
  Driver driver_;
};

// Calls `run` with increasing operation numbers until it returns that the fault was not reached, or
// the test has failed.
void for_every_step(const Steps& steps, const std::function<bool(std::int64_t nth)>& run);

// Fails the test unless the file is intact, each non-empty lane has exactly one head, the one that
// its row names, each delivery has its event, and no fence exceeds the last one recorded.
void expect_consistent(const std::string& path);

}  // namespace hapax::test
