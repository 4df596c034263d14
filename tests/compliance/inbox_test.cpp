// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// The inbox suite over every store that has an inbox.
#include "compliance/inbox_subjects.hpp"

namespace hapax::test {
namespace {

template <class Subject>
std::unique_ptr<InboxSubject> make() {
  return std::make_unique<Subject>();
}

void add_suites() {
  add_inbox_suite({.name = "MemoryInbox", .make = make<MemoryInbox>});
  add_inbox_suite({.name = "SqliteInbox", .make = make<SqliteInbox>});
  // On PostgreSQL a reopened store is just another connection. Behind a pooler or with serializable
  // transactions only the hot-path writes and the outbox behave differently. ./test --long runs
  // everything.
  const bool whole = runs_all_cases();
  const std::vector<std::string_view> differ{"Admit", "Lease", "Settle", "Outbox"};
  const std::vector<std::string_view> groups = whole ? std::vector<std::string_view>{} : differ;
  add_inbox_suite({.name = "PostgresInbox", .make = make<PostgresInbox>, .restarts = whole});
  add_inbox_suite({"PgbouncerInbox", make<PgbouncerInbox>, groups, whole});
  add_inbox_suite({"SerializableInbox", make<SerializableInbox>, groups, whole});
}

}  // namespace
}  // namespace hapax::test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  hapax::test::add_suites();
  return RUN_ALL_TESTS();
}
