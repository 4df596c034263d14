// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/queue/notes.hpp"

#include "base/try.hpp"
#include "store/sqlite/file/times.hpp"
#include "store/sqlite/inbox_statements.hpp"

namespace hapax::store::sqlite {

namespace {

constexpr std::string_view kNoting = "note duplicates";

}  // namespace

Notes::Notes(sqlite3* db)
    : digest_(db, kReadDigest),
      add_(db, kAddDuplicates),
      variants_(db, kReadVariants),
      insert_(db, kInsertVariant),
      forget_body_(db, kForgetVariantBody) {}

Result<void> Notes::note(const DuplicateNote& note) {
  bool own = false;
  {
    Run row(digest_);
    HAPAX_TRY_ASSIGN(found, row.bind(note.event.value()).step(kNoting));
    if (!found) return {};
    own = note.changed && row.bytes(0) == hapax::view(note.changed->digest);
  }
  if (note.count > 0) {
    const auto count = static_cast<std::int64_t>(note.count);
    HAPAX_TRY(Run(add_).bind(note.event.value()).bind(count).change(kNoting));
  }
  return note.changed && !own ? note_changed(note.event, *note.changed) : Result<void>();
}

Result<void> Notes::note_changed(EventNo event, const DuplicateNote::Changed& changed) {
  std::int64_t known = 0;
  {
    Run rows(variants_);
    rows.bind(event.value());
    for (;; ++known) {
      HAPAX_TRY_ASSIGN(more, rows.step(kNoting));
      if (!more) break;
      if (rows.bytes(0) == hapax::view(changed.digest)) return {};
    }
  }
  if (known >= static_cast<std::int64_t>(kMaxVariants)) return {};
  return add_variant(event, known, changed);
}

// Numbered from 1; only the last keeps its bytes.
Result<void> Notes::add_variant(EventNo event, std::int64_t known,
                                const DuplicateNote::Changed& changed) {
  if (known > 0) HAPAX_TRY(Run(forget_body_).bind(event.value()).bind(known).change(kNoting));
  Run row(insert_);
  row.bind(event.value()).bind(known + 1).bind(hapax::view(changed.digest));
  row.bind(to_us(changed.at)).bind(changed.body);
  HAPAX_TRY(row.change(kNoting));
  return {};
}

}  // namespace hapax::store::sqlite
