// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// The suite of the inbox over every store that has one.
#include "compliance/inbox_subjects.hpp"

namespace hapax::test {
namespace {

template <class Subject>
std::unique_ptr<InboxSubject> make() {
  return std::make_unique<Subject>();
}

}  // namespace
}  // namespace hapax::test

int main(int argc, char** argv) {
  using namespace hapax::test;
  testing::InitGoogleTest(&argc, argv);
  add_inbox_suite("MemoryInbox", make<MemoryInbox>);
  add_inbox_suite("SqliteInbox", make<SqliteInbox>);
  add_inbox_suite("PostgresInbox", make<PostgresInbox>);
  return RUN_ALL_TESTS();
}
