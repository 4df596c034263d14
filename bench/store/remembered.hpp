// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "bench/compare.hpp"
#include "bench/store/disk.hpp"
#include "bench/store/ids.hpp"
#include "bench/store/undone.hpp"

#include <iosfwd>
#include <map>
#include <string>
#include <vector>

// What a long memory costs: a store that remembers many ids whose events are gone, as after weeks
// of traffic, beside one that remembers 10,000.
namespace hapax::bench {

class Remembered {
 public:
  // A page size of 0 is hapax's own.
  Remembered(WorkDirectory& directory, std::size_t ids, std::size_t page_size);

  // Both sides are hapax, which admits events that are new, 64 at a time.
  std::vector<Case> cases();
  // When the cases are done: the most memory that the process had while it measured; and how large
  // a file is per remembered id, and per event with all that belongs to it.
  void print_sizes(std::ostream& out);

 private:
  std::string fill(IdOrder order, std::size_t count, const Undone& page_size);
  void note_peak();
  void print_disk(std::ostream& out, IdOrder order);

  WorkDirectory& directory_;
  std::size_t ids_;
  Undone page_size_;
  std::map<IdOrder, double> bytes_per_id_;
  std::size_t peak_kib_ = 0;
};

}  // namespace hapax::bench
