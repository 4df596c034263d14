// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "crash/crash_vfs.hpp"

#include <sqlite3.h>

#include <cstdlib>
#include <fstream>

namespace hapax::test {

namespace {

constexpr int kFollowed = SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL;

int code_of(const CrashVfs::Fault& fault) {
  switch (fault.op) {
    case CrashVfs::Op::write:
      return fault.disk_full ? SQLITE_FULL : SQLITE_IOERR_WRITE;
    case CrashVfs::Op::sync:
      return SQLITE_IOERR_FSYNC;
    case CrashVfs::Op::truncate:
      return SQLITE_IOERR_TRUNCATE;
    case CrashVfs::Op::remove:
      break;
  }
  return SQLITE_IOERR_DELETE;
}

std::string read_all(sqlite3_file* file) {
  sqlite3_int64 size = 0;
  if (file->pMethods->xFileSize(file, &size) != SQLITE_OK) std::abort();
  std::string content(static_cast<std::size_t>(size), '\0');
  if (size == 0) return content;
  if (file->pMethods->xRead(file, content.data(), static_cast<int>(size), 0) != SQLITE_OK) {
    std::abort();
  }
  return content;
}

}  // namespace

// An open file. SQLite allocates the memory: this struct, followed by the real VFS's own.
struct CrashFile : sqlite3_file {
  CrashVfs* vfs;
  sqlite3_file* real;
  FileShadow* shadow;  // null: a temporary file, irrelevant after a crash
  bool is_log;
  bool is_database;

  static CrashFile* of(sqlite3_file* file) { return static_cast<CrashFile*>(file); }
  static sqlite3_file* real_of(sqlite3_file* file) { return of(file)->real; }

  int write(const void* data, int amount, sqlite3_int64 offset);
  int truncate(sqlite3_int64 size);
  int sync();
  int lock_shared_memory(int offset, int count, int flags);

 private:
  int forward_write(const void* data, int amount, sqlite3_int64 offset);
};

int CrashFile::forward_write(const void* data, int amount, sqlite3_int64 offset) {
  const int code = real->pMethods->xWrite(real, data, amount, offset);
  if (code != SQLITE_OK || shadow == nullptr) return code;
  shadow->write(static_cast<std::size_t>(offset),
                {static_cast<const char*>(data), static_cast<std::size_t>(amount)});
  if (is_log && offset == 0) ++vfs->log_starts_;
  return code;
}

int CrashFile::write(const void* data, int amount, sqlite3_int64 offset) {
  if (shadow == nullptr) return forward_write(data, amount, offset);
  if (is_database) vfs->gate_.pass();
  const std::lock_guard lock(vfs->mutex_);
  switch (vfs->decide(CrashVfs::Op::write, is_database)) {
    case CrashVfs::Verdict::dead:
      return SQLITE_IOERR_WRITE;
    case CrashVfs::Verdict::fail:
      if (vfs->fault_.left == CrashVfs::Left::half) forward_write(data, amount / 2, offset);
      return code_of(vfs->fault_);
    case CrashVfs::Verdict::pass:
      break;
  }
  return forward_write(data, amount, offset);
}

int CrashFile::truncate(sqlite3_int64 size) {
  if (shadow == nullptr) return real->pMethods->xTruncate(real, size);
  const std::lock_guard lock(vfs->mutex_);
  if (vfs->decide(CrashVfs::Op::truncate, is_database) != CrashVfs::Verdict::pass)
    return SQLITE_IOERR_TRUNCATE;
  const int code = real->pMethods->xTruncate(real, size);
  if (code == SQLITE_OK) shadow->truncate(static_cast<std::size_t>(size));
  return code;
}

int CrashFile::sync() {
  if (shadow == nullptr) return SQLITE_OK;
  if (is_database) vfs->gate_.pass();
  const std::lock_guard lock(vfs->mutex_);
  switch (vfs->decide(CrashVfs::Op::sync, is_database)) {
    case CrashVfs::Verdict::dead:
      return SQLITE_IOERR_FSYNC;
    case CrashVfs::Verdict::fail:
      if (vfs->fault_.left == CrashVfs::Left::forgotten) shadow->forget();
      return SQLITE_IOERR_FSYNC;
    case CrashVfs::Verdict::pass:
      break;
  }
  shadow->sync();
  return SQLITE_OK;
}

int CrashFile::lock_shared_memory(int offset, int count, int flags) {
  constexpr int kCheckpointLock = 1;  // of SQLite's WAL-index format
  const int code = real->pMethods->xShmLock(real, offset, count, flags);
  const bool is_its_end =
      offset == kCheckpointLock && flags == (SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE);
  if (is_its_end) vfs->gate_.note_end();
  return code;
}

// The VFS methods. Only open, remove and the three above do more than forward the call.
struct VfsCalls {
  static CrashVfs& crash(sqlite3_vfs* vfs) { return *static_cast<CrashVfs*>(vfs->pAppData); }
  static sqlite3_vfs* real(sqlite3_vfs* vfs) { return crash(vfs).real_; }

  static int open(sqlite3_vfs* vfs, const char* path, sqlite3_file* raw, int flags, int* out_flags);
  static int remove(sqlite3_vfs* vfs, const char* path, int sync_directory);
  static sqlite3_vfs make(CrashVfs& owner, sqlite3_vfs& real);
  static sqlite3_io_methods make_methods();
  static void add_shared_memory(sqlite3_io_methods& methods);
};

int VfsCalls::open(sqlite3_vfs* vfs, const char* path, sqlite3_file* raw, int flags,
                   int* out_flags) {
  static const sqlite3_io_methods methods = make_methods();
  CrashVfs& owner = crash(vfs);
  auto* file = CrashFile::of(raw);
  *file = CrashFile{};  // no methods: SQLite does not close the file after a failure
  file->vfs = &owner;
  file->real = reinterpret_cast<sqlite3_file*>(file + 1);

  const std::lock_guard lock(owner.mutex_);
  if (owner.dead_) return SQLITE_CANTOPEN;
  const bool followed = path != nullptr && (flags & kFollowed) != 0;
  std::error_code ignored;
  const bool was_there = followed && std::filesystem::exists(path, ignored);
  const int code = real(vfs)->xOpen(real(vfs), path, file->real, flags, out_flags);
  if (file->real->pMethods == nullptr) return code;
  file->pMethods = &methods;
  file->is_log = (flags & SQLITE_OPEN_WAL) != 0;
  file->is_database = (flags & SQLITE_OPEN_MAIN_DB) != 0;
  if (followed && code == SQLITE_OK) {
    file->shadow = owner.find_or_load(path, was_there, file->real);
  }
  return code;
}

int VfsCalls::remove(sqlite3_vfs* vfs, const char* path, int sync_directory) {
  CrashVfs& owner = crash(vfs);
  const std::lock_guard lock(owner.mutex_);
  const auto known = owner.linked_.find(path);
  if (owner.dead_) return SQLITE_IOERR_DELETE;
  if (known == owner.linked_.end()) return real(vfs)->xDelete(real(vfs), path, sync_directory);
  if (owner.decide(CrashVfs::Op::remove, false) != CrashVfs::Verdict::pass)
    return SQLITE_IOERR_DELETE;
  const int code = real(vfs)->xDelete(real(vfs), path, 0);
  if (code == SQLITE_OK) owner.linked_.erase(known);
  return code;
}

sqlite3_vfs VfsCalls::make(CrashVfs& owner, sqlite3_vfs& real_vfs) {
  sqlite3_vfs made{};
  made.iVersion = 2;
  made.szOsFile = static_cast<int>(sizeof(CrashFile)) + real_vfs.szOsFile;
  made.mxPathname = real_vfs.mxPathname;
  made.zName = "hapax-crash";
  made.pAppData = &owner;
  made.xOpen = open;
  made.xDelete = remove;
  made.xAccess = [](sqlite3_vfs* vfs, const char* path, int flags, int* out) {
    return real(vfs)->xAccess(real(vfs), path, flags, out);
  };
  made.xFullPathname = [](sqlite3_vfs* vfs, const char* path, int size, char* out) {
    return real(vfs)->xFullPathname(real(vfs), path, size, out);
  };
  made.xRandomness = [](sqlite3_vfs* vfs, int size, char* out) {
    return real(vfs)->xRandomness(real(vfs), size, out);
  };
  made.xSleep = [](sqlite3_vfs* vfs, int microseconds) {
    return real(vfs)->xSleep(real(vfs), microseconds);
  };
  made.xCurrentTime = [](sqlite3_vfs* vfs, double* out) {
    return real(vfs)->xCurrentTime(real(vfs), out);
  };
  made.xGetLastError = [](sqlite3_vfs* vfs, int size, char* out) {
    return real(vfs)->xGetLastError(real(vfs), size, out);
  };
  made.xCurrentTimeInt64 = [](sqlite3_vfs* vfs, sqlite3_int64* out) {
    return real(vfs)->xCurrentTimeInt64(real(vfs), out);
  };
  return made;
}

sqlite3_io_methods VfsCalls::make_methods() {
  sqlite3_io_methods made{};
  made.iVersion = 2;  // no memory mapping: every write is intercepted
  made.xClose = [](sqlite3_file* file) {
    return CrashFile::real_of(file)->pMethods->xClose(CrashFile::real_of(file));
  };
  made.xRead = [](sqlite3_file* file, void* data, int amount, sqlite3_int64 offset) {
    sqlite3_file* real_file = CrashFile::real_of(file);
    return real_file->pMethods->xRead(real_file, data, amount, offset);
  };
  made.xWrite = [](sqlite3_file* file, const void* data, int amount, sqlite3_int64 offset) {
    return CrashFile::of(file)->write(data, amount, offset);
  };
  made.xTruncate = [](sqlite3_file* file, sqlite3_int64 size) {
    return CrashFile::of(file)->truncate(size);
  };
  made.xSync = [](sqlite3_file* file, int) { return CrashFile::of(file)->sync(); };
  made.xFileSize = [](sqlite3_file* file, sqlite3_int64* out) {
    return CrashFile::real_of(file)->pMethods->xFileSize(CrashFile::real_of(file), out);
  };
  made.xLock = [](sqlite3_file* file, int level) {
    return CrashFile::real_of(file)->pMethods->xLock(CrashFile::real_of(file), level);
  };
  made.xUnlock = [](sqlite3_file* file, int level) {
    return CrashFile::real_of(file)->pMethods->xUnlock(CrashFile::real_of(file), level);
  };
  made.xCheckReservedLock = [](sqlite3_file* file, int* out) {
    return CrashFile::real_of(file)->pMethods->xCheckReservedLock(CrashFile::real_of(file), out);
  };
  made.xFileControl = [](sqlite3_file* file, int what, void* argument) {
    return CrashFile::real_of(file)->pMethods->xFileControl(CrashFile::real_of(file), what,
                                                            argument);
  };
  made.xSectorSize = [](sqlite3_file* file) {
    return CrashFile::real_of(file)->pMethods->xSectorSize(CrashFile::real_of(file));
  };
  made.xDeviceCharacteristics = [](sqlite3_file* file) {
    return CrashFile::real_of(file)->pMethods->xDeviceCharacteristics(CrashFile::real_of(file));
  };
  add_shared_memory(made);
  return made;
}

void VfsCalls::add_shared_memory(sqlite3_io_methods& methods) {
  methods.xShmMap = [](sqlite3_file* file, int page, int size, int extend, void volatile** out) {
    sqlite3_file* real_file = CrashFile::real_of(file);
    return real_file->pMethods->xShmMap(real_file, page, size, extend, out);
  };
  methods.xShmLock = [](sqlite3_file* file, int offset, int count, int flags) {
    return CrashFile::of(file)->lock_shared_memory(offset, count, flags);
  };
  methods.xShmBarrier = [](sqlite3_file* file) {
    CrashFile::real_of(file)->pMethods->xShmBarrier(CrashFile::real_of(file));
  };
  methods.xShmUnmap = [](sqlite3_file* file, int remove_it) {
    return CrashFile::real_of(file)->pMethods->xShmUnmap(CrashFile::real_of(file), remove_it);
  };
}

CrashVfs::CrashVfs() : real_(sqlite3_vfs_find(nullptr)) {
  vfs_ = std::make_unique<sqlite3_vfs>(VfsCalls::make(*this, *real_));
  if (sqlite3_vfs_register(vfs_.get(), 1) != SQLITE_OK) std::abort();
}

CrashVfs::~CrashVfs() {
  sqlite3_vfs_unregister(vfs_.get());
  sqlite3_vfs_register(real_, 1);
}

void CrashVfs::fail(const Fault& fault) {
  disarm();
  const std::lock_guard lock(mutex_);
  fault_ = fault;
  armed_ = true;
}

void CrashVfs::crash_at(std::int64_t nth) {
  disarm();
  const std::lock_guard lock(mutex_);
  crash_at_ = nth;
}

void CrashVfs::disarm() {
  const std::lock_guard lock(mutex_);
  armed_ = dead_ = reached_ = reached_database_ = false;
  crash_at_ = log_starts_ = attempted_ = done_ = matching_ = 0;
}

bool CrashVfs::reached() const {
  const std::lock_guard lock(mutex_);
  return reached_;
}

bool CrashVfs::reached_database() const {
  const std::lock_guard lock(mutex_);
  return reached_database_;
}

std::int64_t CrashVfs::operations() const {
  const std::lock_guard lock(mutex_);
  return done_;
}

std::int64_t CrashVfs::log_starts() const {
  const std::lock_guard lock(mutex_);
  return log_starts_;
}

CrashVfs::Verdict CrashVfs::decide(Op op, bool of_database) {
  if (dead_) return Verdict::dead;
  ++attempted_;
  if (attempted_ == crash_at_) {
    dead_ = reached_ = true;
    return Verdict::dead;
  }
  if (is_due(op, of_database)) {
    reached_ = true;
    reached_database_ = reached_database_ || of_database;
    return Verdict::fail;
  }
  ++done_;
  return Verdict::pass;
}

bool CrashVfs::is_due(Op op, bool of_database) {
  if (!armed_ || op != fault_.op) return false;
  if (fault_.where == Where::database && !of_database) return false;
  ++matching_;
  return matching_ >= fault_.nth && (fault_.lasting || matching_ < fault_.nth + fault_.times);
}

FileShadow* CrashVfs::find_or_load(const std::string& path, bool was_there, sqlite3_file* real) {
  FileShadow*& found = linked_[path];
  if (found != nullptr) return found;
  shadows_.push_back(was_there ? std::make_unique<FileShadow>(read_all(real))
                               : std::make_unique<FileShadow>());
  found = shadows_.back().get();
  return found;
}

void CrashVfs::materialize(const std::filesystem::path& directory, Fate fate,
                           std::uint64_t seed) const {
  const std::lock_guard lock(mutex_);
  std::filesystem::create_directories(directory);
  SeededRandom chance(seed);
  for (const auto& [path, shadow] : linked_) {
    const std::optional<std::string> content = shadow->after_power_cut(fate, chance);
    if (!content) continue;
    std::ofstream out(directory / std::filesystem::path(path).filename(), std::ios::binary);
    out.write(content->data(), static_cast<std::streamsize>(content->size()));
    if (!out.flush()) std::abort();
  }
}

}  // namespace hapax::test
