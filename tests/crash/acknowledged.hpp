// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "crash/crash_vfs.hpp"
#include "crash/truth.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

// A program that a power cut interrupts, the acknowledgements it received until then, and the check
// of the files after the next boot.
namespace hapax::test {

// The acknowledgements that the program received.
struct Acknowledged {
  std::vector<std::string> ids;   // claimed through dedup()
  std::vector<std::string> jobs;  // committed through once()
};

// Valid names for do_jobs().
extern const std::vector<std::string> kJobNames;

// One call of dedup() for all of `ids`, recorded if it succeeds.
void claim(Store& store, const std::vector<std::string>& ids, Acknowledged& acknowledged);
// Opens a handle of the caller's own and does the jobs on it, each in its own transaction.
void do_jobs(World& world, const std::string& path, const std::vector<std::string>& names,
             Acknowledged& acknowledged);

// Expects everything acknowledged to be in the file, each job to be complete or absent, and store
// and caller to be able to continue.
void expect_acknowledged(World& world, const std::string& path, const Acknowledged& acknowledged);

using Program = std::function<void(World&, const std::string& path, Acknowledged&)>;

// Runs the program with a power cut at the nth operation, with both deterministic fates and `torn`
// random ones. Returns false if the run ended before the cut.
bool crash_once(std::int64_t nth, int torn, const Program& program);

}  // namespace hapax::test
