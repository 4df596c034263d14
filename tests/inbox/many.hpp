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

// Stores with an inbox that several processes share, and what many workers do with them.
namespace hapax::test {

// A file of the test's own.
struct SqliteInbox {
  std::string url() const { return "sqlite:" + directory.file("inbox.db"); }
  TempDir directory;
};

// A database of the test's own.
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

// The numbers of the one source and the one destination that these tests use.
struct Names {
  SourceNo source;
  DestinationNo destination;
};
Names ids_of(const store::Driver& driver);

struct Wanted {
  std::string id;
  std::string lane;  // empty: none
};

// Admits one event for each, in order, in batches. Their bodies are their ids.
void admit_all(const store::Driver& driver, const std::vector<Wanted>& events);

// One lease of `max`, which must work.
store::Lease lease(const store::Driver& driver, std::size_t max, std::chrono::milliseconds length,
                   std::int64_t owner);

using HowToSettle = decltype(store::Settlement::disposition);

// One settlement, which must work.
store::Settled settle(const store::Driver& driver, const store::Leased& leased,
                      const HowToSettle& how);

// What is left to do at the destination.
std::uint64_t unfinished(const store::Driver& driver);

}  // namespace hapax::test
