// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "compliance/inbox_side.hpp"

#include <ostream>
#include <string>
#include <vector>

// Scenes: sequences of inbox operations for tests that inject a fault at every step. The memory
// store provides the expected answers and states.
namespace hapax::test {

struct Scene {
  const char* name;
  std::vector<Operation> before;  // without faults
  std::vector<Operation> acts;
  std::vector<EventNo> watched = {};  // read one by one, even if they are gone

  friend std::ostream& operator<<(std::ostream& out, const Scene& scene) {
    return out << scene.name;
  }
};

// Each operation of `acts` may be repeated after an unknown outcome, unless lacks_replay_number().
const std::vector<Scene>& inbox_scenes();

// The course of a scene without faults.
struct Script {
  std::vector<std::string> answers;  // of each operation
  std::vector<std::string> states;   // before the first operation, and after each
  std::vector<std::string> ends;     // the results of drain() from each state
};
Script script_of(const Scene& scene);

// Returns the complete observable state as text.
std::string state_of(Side& side, const Scene& scene);

// Lets an hour pass, then leases and acknowledges until no deliveries remain. Returns the answers
// and the final state as text.
std::string drain(Side& side, const Scene& scene);

// How an answer compares with the expected one.
enum class AnswerMatch : std::uint8_t { expected, did_not_happen, unknown, different };
AnswerMatch compare_answer(const std::string& answer, const std::string& right);

// Whether the answer contains counts, so that a repeat answers differently.
bool reports_counts(const Operation& act);
// Whether it is a batch whose items succeed or fail independently.
bool has_parts(const Operation& act);
// Whether it is a replay without a number, which only the store can repeat, not the caller.
bool lacks_replay_number(const Operation& act);

// The number of operations that have certainly happened, and whether one more may have.
struct Progress {
  std::size_t certain = 0;
  bool maybe_one_more = false;
  bool maybe_partly = false;  // the additional operation may have happened partly
};

// Expects the store to be in the state of `progress` and to answer the remaining operations
// correctly, including a repeat of the uncertain one.
void expect_finishes(Side& side, const Scene& scene, const Script& script,
                     const Progress& progress);
// expect_finishes(), then delivers everything once.
void expect_continues(Side& side, const Scene& scene, const Script& script,
                      const Progress& progress);

}  // namespace hapax::test
