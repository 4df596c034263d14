// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "crash/crash_vfs.hpp"
#include "support/world.hpp"

#include <ostream>
#include <string_view>

namespace hapax::test {

// How the N-th disk operation fails.
struct Shape {
  const char* name;
  CrashVfs::Fault fault;

  friend std::ostream& operator<<(std::ostream& out, const Shape& shape) {
    return out << shape.name;
  }
};

inline constexpr Shape kShapes[] = {
    {"WriteFailsOnce", {.op = CrashVfs::Op::write}},
    {"WriteFailsForGood", {.op = CrashVfs::Op::write, .lasting = true}},
    {"HalfWriteFailsOnce", {.op = CrashVfs::Op::write, .left = CrashVfs::Left::half}},
    {"HalfWriteFailsForGood",
     {.op = CrashVfs::Op::write, .lasting = true, .left = CrashVfs::Left::half}},
    {"DiskFullOnce", {.op = CrashVfs::Op::write, .disk_full = true}},
    {"DiskFullForGood", {.op = CrashVfs::Op::write, .lasting = true, .disk_full = true}},
    {"DiskFullHalfWayOnce",
     {.op = CrashVfs::Op::write, .disk_full = true, .left = CrashVfs::Left::half}},
    {"SyncFailsOnce", {.op = CrashVfs::Op::sync}},
    {"SyncFailsForGood", {.op = CrashVfs::Op::sync, .lasting = true}},
    {"SyncForgetsOnce", {.op = CrashVfs::Op::sync, .left = CrashVfs::Left::forgotten}},
    {"SyncForgetsForGood",
     {.op = CrashVfs::Op::sync, .lasting = true, .left = CrashVfs::Left::forgotten}},
    {"TruncateFailsOnce", {.op = CrashVfs::Op::truncate}},
    {"TruncateFailsForGood", {.op = CrashVfs::Op::truncate, .lasting = true}},
    {"RemoveFailsOnce", {.op = CrashVfs::Op::remove}},
    {"RemoveFailsForGood", {.op = CrashVfs::Op::remove, .lasting = true}},
};

// The operations that a shape fails: all of them in ./test --long. Otherwise the many write shapes
// alternate, so that every write fails in one of them.
struct Steps {
  std::int64_t first = 1;
  std::int64_t apart = 1;
};
inline Steps steps_of(const Shape& shape) {
  constexpr std::int64_t kShapesOfWrites = 7;
  const bool every = rounds(10) == 10;
  if (every || shape.fault.op != CrashVfs::Op::write) return {};
  std::int64_t place = 1;
  for (const Shape& each : kShapes) {
    if (std::string_view(each.name) == shape.name) break;
    ++place;
  }
  return {place, kShapesOfWrites};
}

}  // namespace hapax::test
