// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// The suite of the inbox over PostgreSQL in other ways to reach it: a program of its own, so that
// the sanitizers, which see no other code of ours here, may leave it out.
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
  add_inbox_suite("PgbouncerInbox", make<PgbouncerInbox>);
  add_inbox_suite("SerializableInbox", make<SerializableInbox>);
  return RUN_ALL_TESTS();
}
