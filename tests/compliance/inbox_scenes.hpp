// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "compliance/inbox_side.hpp"

#include <ostream>
#include <string>
#include <vector>

// Scenes of an inbox's life in which something may fail at every step. What should have been
// answered, and what should be there afterwards, is what the memory store says.
namespace hapax::test {

struct Scene {
  const char* name;
  std::vector<Operation> before;  // nothing fails yet
  std::vector<Operation> acts;
  std::vector<EventNo> watched = {};  // looked at one by one, also when they are gone

  friend std::ostream& operator<<(std::ostream& out, const Scene& scene) {
    return out << scene.name;
  }
};

// Each act may be repeated after an unknown outcome, unless has_no_name().
const std::vector<Scene>& inbox_scenes();

// How a scene goes when nothing fails.
struct Script {
  std::vector<std::string> answers;  // to each act
  std::vector<std::string> states;   // before the first act, and after each
  std::vector<std::string> ends;     // what drain() says from there on
};
Script script_of(const Scene& scene);

// Everything that can be seen, in words.
std::string look(Side& side, const Scene& scene);

// Lets an hour pass, then leases and acknowledges until nothing is left; in words.
std::string drain(Side& side, const Scene& scene);

// What an act was answered.
enum class Told : std::uint8_t { the_answer, did_not_happen, unknown, something_else };
Told told(const std::string& answer, const std::string& right);

// Whether the answer counts what was done, so that the same act again says something else.
bool counts(const Operation& act);
// Whether it is a batch, whose items have fates of their own.
bool has_parts(const Operation& act);
// Whether it is a replay that only the store can repeat, not its caller.
bool has_no_name(const Operation& act);

// Acts `sure` times and, where it says so, perhaps once more.
struct Progress {
  std::size_t sure = 0;
  bool perhaps_one_more = false;
  bool perhaps_in_part = false;  // of that one more
};

// A failure of the test unless the store is where `progress` says, and gives the right answers to
// all that is left to do, the uncertain act repeated.
void expect_finishes(Side& side, const Scene& scene, const Script& script,
                     const Progress& progress);
// ... and then delivers everything once.
void expect_goes_on(Side& side, const Scene& scene, const Script& script, const Progress& progress);

}  // namespace hapax::test
