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

// Two ways of doing the same thing, measured side by side. A rate means little on a machine that
// does other things too; the ratio of two rates, taken one right after the other and many times,
// means something. So nothing here judges a rate alone.
namespace hapax::bench {

using Seconds = std::chrono::duration<double>;

// One of the two ways. It lives as long as its case is measured, and what it wrote in one turn is
// still there in the next. Throws when it cannot go on.
class Side {
 public:
  virtual ~Side() = default;

  // Makes the input of the next `rows` operations. Not measured.
  virtual void prepare(std::size_t rows) = 0;
  // Does them.
  virtual void run() = 0;
};

struct Pair {
  std::unique_ptr<Side> baseline;  // what the ratio is measured against
  std::unique_ptr<Side> subject;
};

struct Case {
  std::string name;
  std::optional<double> budget;  // the least ratio, subject over baseline; none: only told
  std::size_t unit = 1;          // rows come in multiples of it
  std::function<Pair()> open;    // called when its turn has come
};

// A round is cut into turns that the two sides take one after the other: a neighbour who keeps the
// disk busy for a while then slows both down alike.
struct Plan {
  int rounds = 0;
  int turns = 1;     // of each side in a round
  Seconds round{};   // about how long all turns of the baseline take in a round
  Seconds pause{0};  // after each turn, for what a side still does behind its back
};

// What one side took in one round, per row.
struct Cost {
  Seconds time{0};
  Seconds cpu{0};  // of all threads, the pause included
};

struct Round {
  Cost baseline;
  Cost subject;

  // How fast the subject is beside the baseline: 1 is as fast, more is faster.
  double ratio() const { return baseline.time / subject.time; }
};

struct Outcome {
  std::string name;
  std::optional<double> budget;
  std::size_t rows = 0;  // of each side in each round
  std::vector<Round> rounds;
  std::string note = {};  // what else is worth telling

  bool met() const;
};

// The middle one, or the mean of the middle two. `values` is not empty.
double median(std::vector<double> values);
double median_of(const std::vector<Round>& rounds, const std::function<double(const Round&)>& of);

// The number that a budget is about: the median of the rounds' ratios, not the ratio of medians.
double ratio_of(const Outcome& outcome);

// Measures one case: a warm-up that finds out how many rows make a round, then the rounds. Both
// sides do the same number of rows in every turn, and each goes first as often as the other.
Outcome compare(const Case& what, const Plan& plan);

}  // namespace hapax::bench
