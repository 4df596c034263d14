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

// The cost of many remembered ids: a store with many ids whose events are deleted, as after weeks
// of traffic, compared with one that remembers 10,000.
namespace hapax::bench {

class Remembered {
 public:
  // `page_size` 0: hapax's default.
  Remembered(WorkDirectory& directory, std::size_t ids, std::size_t page_size);

  // Both sides are hapax, which admits new events, 64 at a time.
  std::vector<Case> cases();
  // After the cases: prints the peak memory of the process during the measurement, and the size of
  // a file per remembered id and per event with its records.
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
