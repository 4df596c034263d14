// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "crash/caller_db.hpp"
#include "support/world.hpp"

#include <hapax/store.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

// Two short programs for the tests that break every step, and the check that each was told the
// truth. A program never stops at an error: it goes on, so that what a failure leaves behind meets
// the next call too.
namespace hapax::test {

inline constexpr std::string_view kIds = "ids";  // the scope of all that goes through dedup()

// Clock and chance that give every run the same steps.
struct World {
  ManualClock clock;
  SeededRandom random{20260101};
  std::chrono::milliseconds busy_timeout = std::chrono::seconds(5);

  OpenOptions options() {
    return {.busy_timeout = busy_timeout, .clock = &clock, .random = &random};
  }
  SqliteOptions session_options() { return {.clock = &clock, .random = &random}; }
};

// Makes a file with hapax's schema and the caller's tables, and closes it cleanly. Its path.
std::string make_first_file(const TempDir& dir, const std::string& journal_mode);

// Whether the store at `path` opens, has the whole schema, and works.
void expect_store_complete(World& world, const std::string& path);

// One call of dedup() and what it was told: nothing for success, or the outcome of its error.
struct Asked {
  std::vector<std::string> ids;
  std::vector<Token> tokens;
  std::optional<Outcome> failed;
};

// Opens the store, asks for single ids and for batches, and closes it; asks nothing when it cannot
// be opened. `before_close` gets the store that is still open, or null.
std::vector<Asked> ask_for_ids(World& world, const std::string& path,
                               const std::function<void(Store*)>& before_close);
// One call with fresh tokens, for ids that are free.
Asked ask(World& world, Store& store, std::vector<std::string> ids);
// Whether the store at `path`, opened again, bears out every answer.
void expect_ids_told_truly(World& world, const std::string& path, const std::vector<Asked>& asked);

// How the caller uses once().
enum class Way : std::uint8_t {
  begin,                  // hapax begins and commits
  join,                   // the caller does
  join_and_commit_anyway  // ... and commits even when once() failed
};

struct Job {
  std::string id;
  Outcome told;
};

// Opens a handle, runs a few jobs, each in its transaction, and closes it; runs none when hapax
// cannot be attached. `set_up` is SQL for the fresh handle.
std::vector<Job> run_jobs(World& world, const std::string& path, Way way, const std::string& set_up,
                          const std::function<void()>& before_close);
// Whether the database at `path` bears out every answer, and whether the same jobs run again tell
// and complete the truth.
void expect_jobs_told_truly(World& world, const std::string& path, const std::vector<Job>& jobs);

// How many calls failed.
std::size_t failures(const std::vector<Asked>& asked);
std::size_t failures(const std::vector<Job>& jobs);

}  // namespace hapax::test
