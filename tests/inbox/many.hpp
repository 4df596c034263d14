// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/open.hpp"
#include "support/postgres.hpp"
#include "support/world.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

// Stores with an inbox shared by several processes, and the operations of many workers on them.
namespace hapax::test {

// A temporary file.
struct SqliteInbox {
  std::string url() const { return "sqlite:" + directory.file("inbox.db"); }
  TempDir directory;
};

// A temporary database.
struct PostgresInbox {
  std::string url() const { return database.url(); }
  PostgresDatabase database;
};

using InboxStores = testing::Types<SqliteInbox, PostgresInbox>;

struct InboxStoreNames {
  template <class Place>
  static std::string GetName(int) {
    return std::is_same_v<Place, SqliteInbox> ? "Sqlite" : "Postgres";
  }
};

std::unique_ptr<store::Opened> open_inbox(const std::string& url);

// The numbers of the single source and destination in these tests.
struct Names {
  SourceNo source;
  DestinationNo destination;
};
Names ids_of(const store::Driver& driver);

struct Wanted {
  std::string id;
  std::string lane;  // empty: none
};

// Admits one event each, in order, in batches. The bodies are the ids.
void admit_all(const store::Driver& driver, const std::vector<Wanted>& events);

// Leases up to `max` deliveries, which must succeed.
store::Lease lease(const store::Driver& driver, std::size_t max, std::chrono::milliseconds length,
                   std::int64_t owner);

using HowToSettle = decltype(store::Settlement::disposition);

// Settles one delivery, which must succeed.
store::Settled settle(const store::Driver& driver, const store::Leased& leased,
                      const HowToSettle& how);

// Returns the number of unfinished deliveries.
std::uint64_t unfinished(const store::Driver& driver);

}  // namespace hapax::test
