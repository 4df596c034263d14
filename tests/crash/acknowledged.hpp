// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "crash/crash_vfs.hpp"
#include "crash/truth.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

// A program that the power is taken from, what it was told until then, and the check of what the
// next boot finds.
namespace hapax::test {

// What the program was told.
struct Acknowledged {
  std::vector<std::string> ids;   // claimed through dedup()
  std::vector<std::string> jobs;  // committed through once()
};

// The names that do_jobs() may be given.
extern const std::vector<std::string> kJobNames;

// One call of dedup(), for all of `ids`, noted when it succeeds.
void claim(Store& store, const std::vector<std::string>& ids, Acknowledged& told);
// Opens a handle of the caller's own and does the jobs on it, each in its transaction.
void do_jobs(World& world, const std::string& path, const std::vector<std::string>& names,
             Acknowledged& told);

// Whether all that was told is in the file, each job is there whole or not at all, and store and
// caller can go on.
void expect_acknowledged(World& world, const std::string& path, const Acknowledged& told);

using Program = std::function<void(World&, const std::string& path, Acknowledged&)>;

// One run that the power cuts at the nth operation, with both certain fates and `torn` of chance;
// false when the run ended before that.
bool crash_once(std::int64_t nth, int torn, const Program& program);

}  // namespace hapax::test
