// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/contract.hpp"

#include <hapax/env.hpp>

#include <memory>
#include <string>

// hapax's SQLite store with one of its choices undone, to see what the choice is worth. The store
// itself knows nothing of it: handles are changed while they are opened.
namespace hapax::bench {

struct Undone {
  std::string at_open;  // SQL that every new handle runs first
  std::string ignored;  // a pragma that has no effect after that, whatever it is set to
  std::string on_file;  // SQL that the file runs when it has its tables
};

// While it lives, handles are opened this way. One at a time.
class Undoing {
 public:
  explicit Undoing(const Undone& undone);
  ~Undoing();
  Undoing(const Undoing&) = delete;
  Undoing& operator=(const Undoing&) = delete;
};

// Makes a file, with a choice undone or none.
void make_undone(const std::string& path, const Undone& undone);
// ... and opens it. The clock must outlive it.
std::unique_ptr<store::Driver> open_undone(const std::string& path, const Undone& undone,
                                           Clock& clock);

}  // namespace hapax::bench
