// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/driver.hpp"

#include <hapax/env.hpp>

#include <memory>
#include <string>

// hapax's SQLite store with one of its choices undone, to measure the effect of the choice. The
// store itself is unchanged: handles are modified while they are opened.
namespace hapax::bench {

struct Undone {
  std::string at_open;  // SQL that every new handle runs first
  std::string ignored;  // a pragma that has no effect afterwards
  std::string on_file;  // SQL to run on the file after its tables are created
};

// Modifies all handles opened during its lifetime. Only one may exist at a time.
class Undoing {
 public:
  explicit Undoing(const Undone& undone);
  ~Undoing();
  Undoing(const Undoing&) = delete;
  Undoing& operator=(const Undoing&) = delete;
};

// Creates a file, with a choice undone or none.
void make_undone(const std::string& path, const Undone& undone);
// Creates a file and opens it. The clock must outlive the driver.
store::Driver open_undone(const std::string& path, const Undone& undone, Clock& clock);

}  // namespace hapax::bench
