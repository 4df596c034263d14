// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "crash/checkpoint_gate.hpp"
#include "crash/disk_shadow.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

struct sqlite3_file;
struct sqlite3_vfs;

namespace hapax::test {

// A disk that fails on demand and tracks which data is durable.
//
// While this object exists it is SQLite's default VFS. It forwards every call to the real one
// (including locks and shared memory) except syncs, which would only cost time. It also tracks
// database, write-ahead log and rollback journal files: the durable content of each, and the
// changes that a power cut could still lose. Sector size and device characteristics are real.
//
// Permitted faults and their effects:
//
//   operation  fault                          effect
//   ---------  -----------------------------  ----------------------------------------------------
//   write      return SQLITE_IOERR_WRITE or   nothing is written, or (Left::half) the first half;
//              SQLITE_FULL                    SQLite must expect both
//   sync       return SQLITE_IOERR_FSYNC      nothing becomes durable. A later sync makes the
//                                             changes durable, or (Left::forgotten, as on Linux)
//                                             does not unless they are written again
//   truncate   return                         the file keeps its length
//              SQLITE_IOERR_TRUNCATE
//   remove     return SQLITE_IOERR_DELETE     the file stays
//   open       none on its own                after a crash every open fails: the process is dead
//   read,      none                           cannot lose data; a failing reader changes nothing
//   lock, shm
//   power cut  keep or drop each unsynced     synced data always survives. The removal of a file is
//              sector and truncation          durable at once: a simplification that SQLite's own
//                                             order of steps permits, because it removes a journal
//                                             or log only after syncing its replacement. A file
//                                             that was synced once is in its directory. The shared
//                                             memory (-shm) never survives
//
// Thread-safe. Files must be closed before this object is destroyed.
class CrashVfs {
 public:
  enum class Op : std::uint8_t { write, sync, truncate, remove };
  enum class Left : std::uint8_t { nothing, half, forgotten };
  enum class Where : std::uint8_t { anywhere, database };

  struct Fault {
    Op op = Op::write;
    std::int64_t nth = 1;           // counted from 1, over all files, since fail()
    std::int64_t times = 1;         // consecutive failures
    bool lasting = false;           // all operations from the nth on fail
    bool disk_full = false;         // writes: SQLITE_FULL instead of SQLITE_IOERR_WRITE
    Where where = Where::anywhere;  // database: logs and journals are not counted and do not fail
    Left left = Left::nothing;
  };

  CrashVfs();
  ~CrashVfs();
  CrashVfs(const CrashVfs&) = delete;
  CrashVfs& operator=(const CrashVfs&) = delete;

  // Each of these three replaces the previous fault and resets the counts.
  void fail(const Fault& fault);
  // From the nth operation of any kind on, no file changes: the process is dead.
  void crash_at(std::int64_t nth);
  void disarm();

  // Returns whether the fault or the crash has occurred.
  bool reached() const;
  // Returns whether the fault hit a database, not a log or a journal.
  bool reached_database() const;
  // Number of operations that took effect.
  std::int64_t operations() const;
  // How often a write-ahead log was started from its beginning: one more than it was reset.
  std::int64_t log_starts() const;

  CheckpointGate& gate() { return gate_; }

  // Creates `directory` and writes the files into it as a power cut at this moment may leave them.
  // Does not read the real files, so handles may be open.
  void materialize(const std::filesystem::path& directory, Fate fate, std::uint64_t seed) const;

 private:
  friend struct CrashFile;
  friend struct VfsCalls;
  enum class Verdict : std::uint8_t { pass, fail, dead };

  // These require mutex_.
  Verdict decide(Op op, bool of_database);
  bool is_due(Op op, bool of_database);
  FileShadow* find_or_load(const std::string& path, bool was_there, sqlite3_file* real);

  sqlite3_vfs* real_;
  std::unique_ptr<sqlite3_vfs> vfs_;
  CheckpointGate gate_;

  mutable std::mutex mutex_;
  Fault fault_;
  bool armed_ = false;
  std::int64_t matching_ = 0;  // operations that match the fault
  std::int64_t crash_at_ = 0;  // 0: never
  bool dead_ = false;
  bool reached_ = false;
  bool reached_database_ = false;
  std::int64_t attempted_ = 0;
  std::int64_t done_ = 0;
  std::int64_t log_starts_ = 0;
  std::vector<std::unique_ptr<FileShadow>> shadows_;  // also of removed files, still open somewhere
  std::map<std::string, FileShadow*> linked_;         // by path
};

}  // namespace hapax::test
