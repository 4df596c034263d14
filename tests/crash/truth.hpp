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

// Two short programs for the tests that fail every step, and checks of the answers they got. A
// program continues after errors, so that later calls meet the consequences of a failure too.
namespace hapax::test {

inline constexpr std::string_view kIds = "ids";  // the scope of all dedup() calls

// Clock and randomness that make every run identical.
struct World {
  ManualClock clock;
  SeededRandom random{20260101};
  std::chrono::milliseconds busy_timeout = std::chrono::seconds(5);

  OpenOptions options() {
    return {.busy_timeout = busy_timeout, .clock = &clock, .random = &random};
  }
  SqliteOptions session_options() { return {.clock = &clock, .random = &random}; }
};

// Creates a file with hapax's schema and the caller's tables, closes it cleanly, and returns its
// path.
std::string make_first_file(const TempDir& dir, const std::string& journal_mode);

// Expects the store at `path` to open, to have the complete schema, and to work.
void expect_store_complete(World& world, const std::string& path);

// One call of dedup() and its result: nullopt for success, or the outcome of its error.
struct ClaimCall {
  std::vector<std::string> ids;
  std::vector<Token> tokens;
  std::optional<Outcome> failed;
};

// Opens the store, claims single ids and batches, and closes it; returns no calls if it cannot be
// opened. `before_close` gets the open store, or null.
std::vector<ClaimCall> run_claims(World& world, const std::string& path,
                                  const std::function<void(Store*)>& before_close);
// One call with new tokens, for unclaimed ids.
ClaimCall claim_new(World& world, Store& store, std::vector<std::string> ids);
// Expects the reopened store at `path` to confirm every answer.
void expect_claims_exact(World& world, const std::string& path,
                         const std::vector<ClaimCall>& calls);

// How the caller uses once().
enum class Way : std::uint8_t {
  begin,                  // hapax begins and commits
  join,                   // the caller begins and commits
  join_and_commit_anyway  // the caller commits even if once() failed
};

struct Job {
  std::string id;
  Outcome outcome;
};

// Opens a handle, runs a few jobs, each in its own transaction, and closes it; runs none if hapax
// cannot be attached. `set_up` is SQL for the new handle.
std::vector<Job> run_jobs(World& world, const std::string& path, Way way, const std::string& set_up,
                          const std::function<void()>& before_close);
// Expects the database at `path` to confirm every answer. Repeated jobs must report what happened,
// and do the work if it had not.
void expect_jobs_exact(World& world, const std::string& path, const std::vector<Job>& jobs);

// How many calls failed.
std::size_t failures(const std::vector<ClaimCall>& calls);
std::size_t failures(const std::vector<Job>& jobs);

}  // namespace hapax::test
