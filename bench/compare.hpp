// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

// Compares two implementations side by side. On a shared machine an absolute rate means little, but
// the ratio of two rates measured alternately, many times, is reliable. Only ratios have budgets.
namespace hapax::bench {

using Seconds = std::chrono::duration<double>;

// One of the two implementations. It exists while its case is measured, and keeps the data of
// earlier turns. Throws on failure.
class Side {
 public:
  virtual ~Side() = default;

  // Prepares the input of the next `rows` operations. Not measured.
  virtual void prepare(std::size_t rows) = 0;
  // Runs them. Measured.
  virtual void run() = 0;
};

struct Pair {
  std::unique_ptr<Side> baseline;  // the reference of the ratio
  std::unique_ptr<Side> subject;
};

struct Case {
  std::string name;
  std::optional<double> budget;  // minimum ratio of subject to baseline; none: only reported
  std::size_t unit = 1;          // the number of rows is a multiple of it
  std::function<Pair()> open;    // called at the start of the case
};

// A round is divided into turns that alternate between the sides, so that other load on the disk
// slows both equally.
struct Plan {
  int rounds = 0;
  int turns = 1;     // of each side in a round
  Seconds round{};   // approximate time of all turns of the baseline in a round
  Seconds pause{0};  // after each turn, for background work of a side
};

// Cost per row of one side in one round.
struct Cost {
  Seconds time{0};
  Seconds cpu{0};  // of all threads, the pause included
};

struct Round {
  Cost baseline;
  Cost subject;

  // The speed of the subject relative to the baseline: above 1 is faster.
  double ratio() const { return baseline.time / subject.time; }
};

struct Outcome {
  std::string name;
  std::optional<double> budget;
  std::size_t rows = 0;  // of each side in each round
  std::vector<Round> rounds;
  std::string note = {};  // additional information

  bool met() const;
};

// The middle value, or the mean of the two middle values. `values` is not empty.
double median(std::vector<double> values);
double median_of(const std::vector<Round>& rounds, const std::function<double(const Round&)>& of);

// The value that a budget limits: the median of the rounds' ratios, not the ratio of medians.
double ratio_of(const Outcome& outcome);

// Measures one case: a warm-up that determines the rows of a round, then the rounds. Both sides
// process the same number of rows in every turn, and each goes first equally often.
Outcome compare(const Case& what, const Plan& plan);

}  // namespace hapax::bench
