// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "support/world.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hapax::test {

// What becomes of the changes that were not yet synced when the power went.
enum class Fate : std::uint8_t {
  keep_all,  // all of them had reached the disk
  drop_all,  // none had; a file that was never synced is not there
  tear,      // each sector of each write, and each truncation, by chance
};

// What the disk surely holds of one file, and what only the system's cache holds of it so far.
class FileShadow {
 public:
  // A file that was just made: it may be gone after a power cut.
  FileShadow() = default;
  // A file that was there before anybody looked: all of it is on disk.
  explicit FileShadow(std::string content) : durable_(std::move(content)), is_durable_(true) {}

  void write(std::size_t offset, std::string_view bytes);
  void truncate(std::size_t size);
  // All changes so far are on disk.
  void sync();
  // A sync failed and the system threw the changes away: no later sync brings them to the disk,
  // though every reader still sees them.
  void forget() { pending_.clear(); }

  // The content as the next boot finds it, or nothing when the file is not there.
  std::optional<std::string> after_power_cut(Fate fate, SeededRandom& chance) const;

 private:
  struct Change {
    bool is_truncate;
    std::size_t offset;  // of a truncation: the new size
    std::string bytes;
  };
  static void apply(std::string& content, const Change& change);
  static void apply_torn(std::string& content, const Change& change, SeededRandom& chance);

  std::string durable_;
  bool is_durable_ = false;
  std::vector<Change> pending_;
};

}  // namespace hapax::test
