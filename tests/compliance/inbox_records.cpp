// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "compliance/inbox_suite.hpp"

#include <atomic>

// Records: small named and versioned values.
namespace hapax::test {

namespace {

bool put(InboxSteps& steps, const Record& record, std::int64_t before) {
  EXPECT_TRUE(check(record));
  const Result<bool> put = steps.next().node->put_record(record, before);
  EXPECT_TRUE(put) << put.error().to_string();
  return put.value_or(false);
}

std::optional<Record> read(InboxSteps& steps, const std::string& name) {
  const Result<std::optional<Record>> found = steps.next().node->record(name);
  EXPECT_TRUE(found) << found.error().to_string();
  return found ? *found : std::nullopt;
}

bool remove(InboxSteps& steps, const std::string& name, std::int64_t version) {
  const Result<bool> removed = steps.next().node->remove_record(name, version);
  EXPECT_TRUE(removed) << removed.error().to_string();
  return removed.value_or(false);
}

std::string names(InboxSteps& steps, const std::string& prefix) {
  const Result<std::vector<Record>> found = steps.next().node->records(prefix);
  EXPECT_TRUE(found) << found.error().to_string();
  std::string text;
  if (!found) return text;
  for (const Record& each : *found) text += (text.empty() ? "" : " ") + each.name;
  return text;
}

void a_record_is_kept_as_it_was_written(InboxSteps& steps) {
  const Record record{"replay/1", 71, std::string("\0\xff\n{}", 5)};
  EXPECT_EQ(read(steps, "replay/1"), std::nullopt);
  EXPECT_TRUE(put(steps, record, 0));
  EXPECT_EQ(read(steps, "replay/1"), record);
  const Record empty{"replay/1", 72, ""};
  EXPECT_TRUE(put(steps, empty, 71));
  EXPECT_EQ(read(steps, "replay/1"), empty);
  const Record large{"large", std::numeric_limits<std::int64_t>::max(),
                     std::string(kMaxRecord, 'x')};
  EXPECT_TRUE(put(steps, large, 0));
  EXPECT_EQ(read(steps, "large"), large);
}

void a_record_changes_only_from_the_version_read(InboxSteps& steps) {
  ASSERT_TRUE(put(steps, {"a", 1, "one"}, 0));
  EXPECT_FALSE(put(steps, {"a", 2, "two"}, 0)) << "a record exists";
  EXPECT_FALSE(put(steps, {"a", 2, "two"}, 5)) << "it has another version";
  EXPECT_FALSE(put(steps, {"b", 2, "two"}, 5)) << "no record exists";
  EXPECT_EQ(read(steps, "a"), (Record{"a", 1, "one"}));
  EXPECT_EQ(read(steps, "b"), std::nullopt);
  EXPECT_TRUE(put(steps, {"a", 2, "two"}, 1));
  EXPECT_FALSE(put(steps, {"a", 3, "three"}, 1)) << "another writer was faster";
  EXPECT_EQ(read(steps, "a"), (Record{"a", 2, "two"}));
}

// After an unknown outcome the caller repeats the write with the same version.
void a_repeated_write_succeeds(InboxSteps& steps) {
  EXPECT_TRUE(put(steps, {"a", 1, "one"}, 0));
  EXPECT_TRUE(put(steps, {"a", 1, "one"}, 0));
  EXPECT_TRUE(put(steps, {"a", 2, "two"}, 1));
  EXPECT_TRUE(put(steps, {"a", 2, "two"}, 1));
  EXPECT_FALSE(put(steps, {"a", 1, "one"}, 0)) << "it was replaced since";
  EXPECT_EQ(read(steps, "a"), (Record{"a", 2, "two"}));
}

void a_record_is_removed_by_its_version(InboxSteps& steps) {
  ASSERT_TRUE(put(steps, {"a", 1, "one"}, 0));
  EXPECT_FALSE(remove(steps, "a", 2));
  EXPECT_TRUE(read(steps, "a"));
  EXPECT_TRUE(remove(steps, "a", 1));
  EXPECT_TRUE(remove(steps, "a", 1)) << "repeated: it is already gone";
  EXPECT_EQ(read(steps, "a"), std::nullopt);
  EXPECT_FALSE(put(steps, {"a", 3, "three"}, 1))
      << "a removed record is not recreated by an update";
  EXPECT_TRUE(put(steps, {"a", 3, "three"}, 0));
}

void records_are_listed_by_name_prefix(InboxSteps& steps) {
  for (const char* name : {"replay/b", "replay/a", "replay/~", "replay", "replays/c", "listen/x"}) {
    ASSERT_TRUE(put(steps, {name, 1, name}, 0));
  }
  EXPECT_EQ(names(steps, "replay/"), "replay/a replay/b replay/~");
  EXPECT_EQ(names(steps, "listen/"), "listen/x");
  EXPECT_EQ(names(steps, "none/"), "");
  EXPECT_EQ(names(steps, ""), "listen/x replay replay/a replay/b replay/~ replays/c");
}

void the_number_of_records_is_limited(InboxSteps& steps) {
  for (std::size_t i = 0; i < kMaxRecords; ++i) {
    ASSERT_TRUE(*steps.same().node->put_record({"r/" + std::to_string(i), 1, ""}, 0));
  }
  const Result<bool> more = steps.next().node->put_record({"more", 1, ""}, 0);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code(), Code::store_full);
  EXPECT_TRUE(put(steps, {"r/7", 2, "changed"}, 1)) << "existing records can be changed";
  EXPECT_TRUE(remove(steps, "r/8", 1));
  EXPECT_TRUE(put(steps, {"more", 1, ""}, 0));
}

void one_of_many_concurrent_writers_succeeds(InboxSteps& steps) {
  constexpr int kThreads = 8;
  ASSERT_TRUE(put(steps, {"a", 1, ""}, 0));
  for (std::int64_t round = 0; round < 10; ++round) {
    std::atomic<int> winners = 0;
    const std::int64_t before = read(steps, "a")->version;
    all_at_once(kThreads, [&](int i) {
      const Record mine{"a", 100 * (round + 1) + i, std::to_string(i)};
      const Result<bool> put = steps.same().node->put_record(mine, before);
      EXPECT_TRUE(put) << put.error().to_string();
      if (put && *put) ++winners;
    });
    EXPECT_EQ(winners, 1);
  }
}

void invalid_records_are_rejected(InboxSteps&) {
  EXPECT_FALSE(check(Record{"", 1, ""}));
  EXPECT_FALSE(check(Record{"a b", 1, ""}));
  EXPECT_FALSE(check(Record{std::string(kMaxName + 1, 'n'), 1, ""}));
  EXPECT_FALSE(check(Record{"a", 0, ""}));
  EXPECT_FALSE(check(Record{"a", -1, ""}));
  EXPECT_FALSE(check(Record{"a", 1, std::string(kMaxRecord + 1, 'x')}));
}

constexpr InboxCase kRecordsCases[] = {
    {"ARecordIsKeptAsItWasWritten", a_record_is_kept_as_it_was_written},
    {"ARecordChangesOnlyFromTheVersionRead", a_record_changes_only_from_the_version_read},
    {"ARepeatedWriteSucceeds", a_repeated_write_succeeds},
    {"ARecordIsRemovedByItsVersion", a_record_is_removed_by_its_version},
    {"RecordsAreListedByNamePrefix", records_are_listed_by_name_prefix},
    {"TheNumberOfRecordsIsLimited", the_number_of_records_is_limited, false},
    {"OneOfManyConcurrentWritersSucceeds", one_of_many_concurrent_writers_succeeds, false},
    {"InvalidRecordsAreRejected", invalid_records_are_rejected, false},
};

}  // namespace

std::span<const InboxCase> record_cases() {
  return kRecordsCases;
}

}  // namespace hapax::test
