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

// A disk that fails on order and remembers what it has really stored.
//
// While it lives it is SQLite's default VFS: everything goes on to the real one (locks and shared
// memory too), except that no sync is passed on, which would only cost time. Beside that it follows
// database, write-ahead log and rollback journal files: what of each is on disk, and what a power
// cut could still take. Sector size and device characteristics are the real ones.
//
// Which faults are legal where:
//
//   operation  a fault may                    and then
//   ---------  -----------------------------  ----------------------------------------------------
//   write      answer SQLITE_IOERR_WRITE or   nothing of it is in the file, or (Left::half) the
//              SQLITE_FULL                    first half; SQLite must expect both
//   sync       answer SQLITE_IOERR_FSYNC      no change becomes durable by it. A later sync makes
//                                             them durable, or (Left::forgotten, as Linux does) it
//                                             does not, unless they are written again
//   truncate   answer                         the file keeps its length
//              SQLITE_IOERR_TRUNCATE
//   remove     answer SQLITE_IOERR_DELETE     the file stays
//   open       never on its own               after a crash every open fails: the process is dead
//   read,      never                          not needed to lose data; a reader that fails changes
//   lock, shm                                 nothing
//   power cut  keep or drop each unsynced     never anything that was synced. Removal of a file is
//              sector and truncation          durable at once: a simplification that SQLite's own
//                                             order of steps allows, because it removes a journal
//                                             or log only after syncing what replaces it. A file
//                                             that was synced once is in its directory. The shared
//                                             memory (-shm) never survives
//
// Thread-safe. Files must be closed before it goes.
class CrashVfs {
 public:
  enum class Op : std::uint8_t { write, sync, truncate, remove };
  enum class Left : std::uint8_t { nothing, half, forgotten };
  enum class Where : std::uint8_t { anywhere, database };

  struct Fault {
    Op op = Op::write;
    std::int64_t nth = 1;           // counted from 1, over all files, from the call of fail()
    std::int64_t times = 1;         // so many in a row
    bool lasting = false;           // from the nth on, for good
    bool disk_full = false;         // writes: SQLITE_FULL instead of SQLITE_IOERR_WRITE
    Where where = Where::anywhere;  // database: neither logs nor journals are counted, nor fail
    Left left = Left::nothing;
  };

  CrashVfs();
  ~CrashVfs();
  CrashVfs(const CrashVfs&) = delete;
  CrashVfs& operator=(const CrashVfs&) = delete;

  // Each of the three replaces what was ordered before and starts the counts again.
  void fail(const Fault& fault);
  // From the nth operation of any kind on, nothing changes any file: the process is dead.
  void crash_at(std::int64_t nth);
  void disarm();

  // Whether the fault or the crash has happened.
  bool reached() const;
  // Whether the fault has struck a database, not a log or a journal.
  bool reached_database() const;
  // How many operations had their effect.
  std::int64_t operations() const;
  // How often a write-ahead log was begun from its start: one more than it was emptied.
  std::int64_t log_starts() const;

  CheckpointGate& gate() { return gate_; }

  // Writes the files as a power cut at this moment may leave them into `directory`, which is made.
  // Nothing is read from the real files, so handles may be open.
  void materialize(const std::filesystem::path& directory, Fate fate, std::uint64_t seed) const;

 private:
  friend struct CrashFile;
  friend struct VfsCalls;
  enum class Verdict : std::uint8_t { pass, fail, dead };

  // All of these with mutex_ held.
  Verdict judge(Op op, bool of_database);
  bool is_due(Op op, bool of_database);
  FileShadow* find_or_load(const std::string& path, bool was_there, sqlite3_file* real);

  sqlite3_vfs* real_;
  std::unique_ptr<sqlite3_vfs> vfs_;
  CheckpointGate gate_;

  mutable std::mutex mutex_;
  Fault fault_;
  bool armed_ = false;
  std::int64_t matching_ = 0;  // operations that the fault could have struck
  std::int64_t crash_at_ = 0;  // 0: never
  bool dead_ = false;
  bool reached_ = false;
  bool reached_database_ = false;
  std::int64_t asked_ = 0;
  std::int64_t done_ = 0;
  std::int64_t log_starts_ = 0;
  std::vector<std::unique_ptr<FileShadow>> shadows_;  // also of removed files, still open somewhere
  std::map<std::string, FileShadow*> linked_;         // by path
};

}  // namespace hapax::test
