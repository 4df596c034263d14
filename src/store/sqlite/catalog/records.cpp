// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/catalog/records.hpp"

#include "base/try.hpp"
#include "store/sqlite/inbox_statements.hpp"

namespace hapax::store::sqlite {

namespace {

Record read_record(const Run& row) {
  return {std::string(row.bytes(0)), row.number(1), std::string(row.bytes(2))};
}

}  // namespace

Records::Records(sqlite3* db)
    : read_(db, kReadRecord),
      all_(db, kRecords),
      count_(db, kCountRecords),
      write_(db, kWriteRecord),
      remove_(db, kRemoveRecord) {}

Result<std::optional<Record>> Records::read(std::string_view name) {
  Run row(read_);
  HAPAX_TRY_ASSIGN(found, row.bind_text(name).step("read a record"));
  return found ? std::optional(read_record(row)) : std::nullopt;
}

Result<std::vector<Record>> Records::all(std::string_view prefix) {
  const std::string end = std::string(prefix) + '\x7f';  // sorts after every character of a name
  std::vector<Record> found;
  Run rows(all_);
  rows.bind_text(prefix).bind_text(end);
  for (;;) {
    HAPAX_TRY_ASSIGN(more, rows.step("list records"));
    if (!more) return found;
    found.push_back(read_record(rows));
  }
}

Result<std::optional<bool>> Records::put(const Record& record, std::int64_t before) {
  HAPAX_TRY_ASSIGN(there, read(record.name));
  const std::int64_t now = there ? there->version : 0;
  if (now == record.version) return std::optional(true);
  if (now != before) return std::optional(false);
  if (now == 0) {
    Run count(count_);
    HAPAX_TRY(count.step("count records"));
    if (count.number(0) >= static_cast<std::int64_t>(kMaxRecords)) return std::optional<bool>();
  }
  Run write(write_);
  write.bind_text(record.name).bind(record.version).bind(record.content);
  HAPAX_TRY(write.change("write a record"));
  return std::optional(true);
}

Result<bool> Records::remove(std::string_view name, std::int64_t version) {
  HAPAX_TRY_ASSIGN(there, read(name));
  if (!there) return true;
  if (there->version != version) return false;
  HAPAX_TRY(Run(remove_).bind_text(name).change("remove a record"));
  return true;
}

}  // namespace hapax::store::sqlite
