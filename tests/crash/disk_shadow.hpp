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

// The fate of unsynced changes in a power cut.
enum class Fate : std::uint8_t {
  keep_all,  // all had reached the disk
  drop_all,  // none had; a file that was never synced does not exist
  tear,      // random for each sector of each write, and for each truncation
};

// One file: its durable content, and the changes that are only in the system's cache.
class FileShadow {
 public:
  // A new file, which may not exist after a power cut.
  FileShadow() = default;
  // An existing file, whose content is durable.
  explicit FileShadow(std::string content) : durable_(std::move(content)), is_durable_(true) {}

  void write(std::size_t offset, std::string_view bytes);
  void truncate(std::size_t size);
  // Makes all changes so far durable.
  void sync();
  // A sync failed and the system discarded the changes: no later sync makes them durable, though
  // readers still see them.
  void forget() { pending_.clear(); }

  // Returns the content after the next boot; nullopt if the file does not exist.
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
