// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/store.hpp>

#include "model/numbers.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hapax::store {

// ---------------------------------------------------------------------------------------------
// Records: small texts, stored by name and shared by all nodes, for data that is small and rarely
// changes: a bulk replay in progress, a developer's machine that listens.

inline constexpr std::size_t kMaxRecord = std::size_t{16} * 1024;  // bytes per record
inline constexpr std::size_t kMaxRecords = 1000;                   // in a store

struct Record {
  std::string name;  // same rules as a source name: check_name()
  // Random, above 0, new for each write, so that a writer recognizes its own.
  std::int64_t version = 0;
  std::string content;

  friend bool operator==(const Record&, const Record&) = default;
};

using StoreSecret = std::array<unsigned char, 32>;

// ---------------------------------------------------------------------------------------------
// The contract: what the nodes of a store share. The capability `inbox`. Thread-safe; the calls
// block and never throw. An error has one of the three outcomes. Each call is atomic by itself and
// may be repeated after an unknown outcome.
class Node {
 public:
  virtual ~Node() = default;

  // Assigns `owner` (not empty) a node number of its own until `lease` expires. Another call
  // extends the lease and keeps the number. If the lease has expired and the number was reassigned,
  // it returns a new one, and the owner must generate no more event numbers with the old one.
  // Unused numbers are assigned first, then the one that expired longest ago. store_full: all are
  // taken.
  virtual Result<NodeNo> take_node(const Token& owner, std::chrono::milliseconds lease) = 0;
  virtual Result<void> leave_node(const Token& owner) = 0;  // expires it at once; no-op without one

  // The store's secret: `proposed` of the first call, then the same forever, on every node.
  virtual Result<StoreSecret> secret(const StoreSecret& proposed) = 0;

  virtual Result<std::optional<Record>> record(std::string_view name) = 0;
  virtual Result<std::vector<Record>> records(std::string_view prefix) = 0;  // sorted by name
  // Replaces the record of version `before`; 0: adds a new record. True: the record is stored, by
  // this call or an earlier one with the same version. False: `before` did not match, and nothing
  // changed. store_full: there are kMaxRecords.
  virtual Result<bool> put_record(const Record& record, std::int64_t before) = 0;
  // True: no such record remains. False: it has another version, and nothing changed.
  virtual Result<bool> remove_record(std::string_view name, std::int64_t version) = 0;
};

// invalid_argument: exceeds a limit; names the first one.
Result<void> check(const Record& record);

// The store_full error of put_record().
Error no_room_for_records();

}  // namespace hapax::store
