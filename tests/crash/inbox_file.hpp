// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "compliance/inbox_suite.hpp"
#include "crash/fault_shapes.hpp"
#include "support/world.hpp"

#include <functional>
#include <memory>
#include <string>

// An inbox in a SQLite file whose disk fails.
namespace hapax::test {

// Opened when it is made, which must work.
class FileInbox final : public InboxSubject {
 public:
  // `passed`: how much time has passed since the first opening of the file.
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

// Calls `run` with the numbers of the operations until it says that the fault was not reached any
// more, or the test has failed.
void for_every_step(const Steps& steps, const std::function<bool(std::int64_t nth)>& run);

// A failure of the test unless the file is whole, every lane has the one head that its row names,
// every delivery has its event, and no fence is larger than the last one that was noted.
void expect_sound(const std::string& path);

}  // namespace hapax::test
