// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "compliance/inbox_scenes.hpp"
#include "crash/inbox_file.hpp"

#include <memory>
#include <string>

namespace hapax::test {

// The file in which a scene begins, and the numbers and fences learned while creating it.
class Opening {
 public:
  explicit Opening(const Scene& scene);

  std::string path() const { return dir_.file("first.db"); }
  milliseconds passed() const { return passed_; }
  Side known(InboxSubject& inbox) const { return Side(*known_, inbox); }

 private:
  TempDir dir_;
  std::unique_ptr<Side> known_;  // its store is closed
  milliseconds passed_{};
};

// Returns the progress of a scene whose operation number `act` got this answer under a fault.
Progress progress_after(const Scene& scene, const Script& script, std::size_t act,
                        const std::string& answer);

}  // namespace hapax::test
