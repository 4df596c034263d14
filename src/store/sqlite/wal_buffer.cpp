// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/wal_buffer.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <vector>

namespace hapax::store::sqlite {

namespace {

constexpr std::size_t kPiece = 64 * 1024;

// The log of one handle. SQLite gives the memory; the file that it stands for lies behind it.
struct WalFile {
  sqlite3_file shown;  // first, as SQLite wants it
  std::vector<char> bytes;
  sqlite3_int64 start = 0;  // where `bytes` belong in the file

  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }

  // What fails is not tried again: SQLite gives the transaction up, and its frames with it.
  int flush() {
    if (bytes.empty()) return SQLITE_OK;
    const int size = static_cast<int>(bytes.size());
    const int code = real()->pMethods->xWrite(real(), bytes.data(), size, start);
    bytes.clear();
    return code;
  }

  int write(const char* data, std::size_t size, sqlite3_int64 at) {
    const bool follows = at == start + static_cast<sqlite3_int64>(bytes.size());
    if (!follows || bytes.size() + size > kPiece) {
      if (const int code = flush(); code != SQLITE_OK) return code;
    }
    if (bytes.empty()) start = at;
    bytes.insert(bytes.end(), data, data + size);
    return SQLITE_OK;
  }
};

WalFile& wal(sqlite3_file* file) {
  return *reinterpret_cast<WalFile*>(file);
}

// Calls the real file's method when everything before it is written.
template <class Call>
int behind(sqlite3_file* file, Call call) {
  const int code = wal(file).flush();
  return code == SQLITE_OK ? call(wal(file).real()) : code;
}

int close_file(sqlite3_file* file) {
  WalFile& self = wal(file);
  self.flush();
  sqlite3_file* const real = self.real();
  const int code = real->pMethods->xClose(real);
  self.~WalFile();
  return code;
}

int read_file(sqlite3_file* file, void* to, int size, sqlite3_int64 at) {
  return behind(file,
                [&](sqlite3_file* real) { return real->pMethods->xRead(real, to, size, at); });
}

int write_file(sqlite3_file* file, const void* from, int size, sqlite3_int64 at) {
  return wal(file).write(static_cast<const char*>(from), static_cast<std::size_t>(size), at);
}

int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  return behind(file, [&](sqlite3_file* real) { return real->pMethods->xTruncate(real, size); });
}

int sync_file(sqlite3_file* file, int flags) {
  return behind(file, [&](sqlite3_file* real) { return real->pMethods->xSync(real, flags); });
}

int size_of_file(sqlite3_file* file, sqlite3_int64* size) {
  return behind(file, [&](sqlite3_file* real) { return real->pMethods->xFileSize(real, size); });
}

int lock_file(sqlite3_file* file, int kind) {
  sqlite3_file* const real = wal(file).real();
  return real->pMethods->xLock(real, kind);
}

int unlock_file(sqlite3_file* file, int kind) {
  sqlite3_file* const real = wal(file).real();
  return real->pMethods->xUnlock(real, kind);
}

int check_reserved_lock(sqlite3_file* file, int* held) {
  sqlite3_file* const real = wal(file).real();
  return real->pMethods->xCheckReservedLock(real, held);
}

int control_file(sqlite3_file* file, int what, void* argument) {
  return behind(
      file, [&](sqlite3_file* real) { return real->pMethods->xFileControl(real, what, argument); });
}

int sector_size(sqlite3_file* file) {
  sqlite3_file* const real = wal(file).real();
  return real->pMethods->xSectorSize(real);
}

int characteristics(sqlite3_file* file) {
  sqlite3_file* const real = wal(file).real();
  return real->pMethods->xDeviceCharacteristics(real);
}

// A log is never mapped or locked through shared memory: the methods of version 1 are all it has.
constexpr sqlite3_io_methods kMethods = {1,
                                         close_file,
                                         read_file,
                                         write_file,
                                         truncate_file,
                                         sync_file,
                                         size_of_file,
                                         lock_file,
                                         unlock_file,
                                         check_reserved_lock,
                                         control_file,
                                         sector_size,
                                         characteristics,
                                         nullptr,
                                         nullptr,
                                         nullptr,
                                         nullptr,
                                         nullptr,
                                         nullptr};

}  // namespace

struct WalBuffer::Layer {
  sqlite3_vfs shown{};  // first, so that a call finds the rest
  sqlite3_vfs* base = sqlite3_vfs_find(nullptr);
  std::string name;

  Layer() {
    name = "hapax-wal-" + std::to_string(reinterpret_cast<std::uintptr_t>(this));
    shown = *base;
    shown.pNext = nullptr;
    shown.zName = name.c_str();
    shown.szOsFile = static_cast<int>(sizeof(WalFile)) + base->szOsFile;
    shown.xOpen = open_file;
    shown.xDelete = [](sqlite3_vfs* vfs, const char* path, int sync) {
      return of(vfs)->xDelete(of(vfs), path, sync);
    };
    shown.xAccess = [](sqlite3_vfs* vfs, const char* path, int flags, int* answer) {
      return of(vfs)->xAccess(of(vfs), path, flags, answer);
    };
    shown.xFullPathname = [](sqlite3_vfs* vfs, const char* path, int size, char* out) {
      return of(vfs)->xFullPathname(of(vfs), path, size, out);
    };
    shown.xRandomness = [](sqlite3_vfs* vfs, int size, char* out) {
      return of(vfs)->xRandomness(of(vfs), size, out);
    };
    shown.xSleep = [](sqlite3_vfs* vfs, int time) { return of(vfs)->xSleep(of(vfs), time); };
    shown.xCurrentTime = [](sqlite3_vfs* vfs, double* time) {
      return of(vfs)->xCurrentTime(of(vfs), time);
    };
    shown.xGetLastError = [](sqlite3_vfs* vfs, int size, char* out) {
      return of(vfs)->xGetLastError(of(vfs), size, out);
    };
    if (base->iVersion >= 2) {
      shown.xCurrentTimeInt64 = [](sqlite3_vfs* vfs, sqlite3_int64* time) {
        return of(vfs)->xCurrentTimeInt64(of(vfs), time);
      };
    }
    // Extensions and system calls are nothing that a store asks for.
    shown.iVersion = std::min(base->iVersion, 2);
    shown.xDlOpen = nullptr;
    shown.xDlError = nullptr;
    shown.xDlSym = nullptr;
    shown.xDlClose = nullptr;
  }

  static sqlite3_vfs* of(sqlite3_vfs* vfs) { return reinterpret_cast<Layer*>(vfs)->base; }

  static int open_file(sqlite3_vfs* vfs, const char* path, sqlite3_file* file, int flags,
                       int* got_flags) {
    sqlite3_vfs* const base = of(vfs);
    if ((flags & SQLITE_OPEN_WAL) == 0) return base->xOpen(base, path, file, flags, got_flags);
    WalFile* const made = new (file) WalFile();
    const int code = base->xOpen(base, path, made->real(), flags, got_flags);
    made->shown.pMethods = code == SQLITE_OK ? &kMethods : nullptr;
    if (code != SQLITE_OK) {
      // SQLite closes a file that could not be opened where it has methods.
      if (made->real()->pMethods != nullptr) made->real()->pMethods->xClose(made->real());
      made->~WalFile();
    }
    return code;
  }
};

WalBuffer::WalBuffer() : layer_(std::make_unique<Layer>()) {}
WalBuffer::~WalBuffer() = default;

int WalBuffer::open(const char* path, int flags, sqlite3** db) {
  sqlite3_vfs* const vfs = &layer_->shown;
  int code = sqlite3_vfs_register(vfs, 0);
  if (code != SQLITE_OK) return code;
  code = sqlite3_open_v2(path, db, flags, vfs->zName);
  sqlite3_vfs_unregister(vfs);
  return code;
}

}  // namespace hapax::store::sqlite
