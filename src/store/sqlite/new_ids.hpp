// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/result.hpp>

#include "base/bloom_filter.hpp"
#include "store/sqlite/connection.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace hapax::store::sqlite {

// Keys that the filter is made for: 1.5 MB at first, 48 MB at most. With more it goes on, and says
// less often that one is new.
struct RoomForIds {
  std::size_t least = 1U << 20U;
  std::size_t most = 1U << 25U;
};

// Knows of most new ids that they are new, so that the index need not be asked, of which a new id
// needs a page that nothing else needs. A filter in memory has every id that comes into the log,
// and those of the index up to where that has been read, which goes on as events come in.
//
// Inside write transactions, on one connection.
class NewIds {
 public:
  NewIds(sqlite3* db, const SipKey& hashed_by, const RoomForIds& room);

  // Around the work of every transaction. What a transaction read counts when it is committed: it
  // may have removed ids from the index before that, and a rollback brings them back.
  void start() { reading_ = read_; }
  void note_commit() { read_ = reading_; }

  // True: no claim has this key. False: one may.
  bool is_new(std::string_view key) const {
    return (read_.is_whole || key <= read_.to) && !filter_.may_have(key);
  }

  // Every key that comes into the log, by whomever, must be added.
  void add(std::string_view key);
  // Reads on in the index, up to `most` keys of it.
  Result<void> read_on(std::size_t most);

  // Many more were added than it has room for, or than there were: clear() makes room, and takes
  // out what is not in the store any more. Then what is in the log has to be added again.
  bool is_full() const;
  void clear();

 private:
  // How far the index is in the filter.
  struct ReadTo {
    bool is_whole = false;
    std::string to;
  };

  Lazy keys_;
  SipKey hashed_by_;
  RoomForIds bounds_;
  std::size_t room_;
  std::size_t added_ = 0;
  std::size_t added_when_whole_ = 0;
  BloomFilter filter_;
  ReadTo read_;
  ReadTo reading_;  // by this transaction
};

}  // namespace hapax::store::sqlite
