// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

struct sqlite3;

namespace hapax::store::sqlite {

// SQLite writes each page of a transaction to the write-ahead log with two calls of the system.
// This puts them together and writes them in large pieces, at the latest when SQLite asks for a
// sync. Right only for handles with synchronous=FULL: there, nobody else reads a frame of the log
// before the sync that follows it.
//
// It stands on what is SQLite's default VFS when it is made, and belongs to one handle, which it
// must outlive; nothing of it stays registered.
class WalBuffer {
 public:
  WalBuffer();
  ~WalBuffer();
  WalBuffer(const WalBuffer&) = delete;
  WalBuffer& operator=(const WalBuffer&) = delete;

  // sqlite3_open_v2(), through it.
  int open(const char* path, int flags, sqlite3** db);

 private:
  struct Layer;
  std::unique_ptr<Layer> layer_;
};

}  // namespace hapax::store::sqlite
