// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "bench/store/cases.hpp"
#include "bench/store/inbox_sides.hpp"

#include <functional>

// Measures the effect of each pragma and each index of the SQLite store. In the baseline the choice
// is undone; the subject is hapax. A ratio above 1 is a gain, below 1 a cost.
namespace hapax::bench {

namespace {

constexpr std::size_t kBatch = 64;
constexpr std::size_t kBlocked = 100'000;

using OpenSide = std::function<std::unique_ptr<Side>(const std::string& path, const Undone&)>;

std::unique_ptr<Side> admit_random(const std::string& path, const Undone& undone) {
  return admit_side(inbox_of_hapax(path, undone), IdOrder::random, kBatch, false);
}

std::unique_ptr<Side> admit_by_time(const std::string& path, const Undone& undone) {
  return admit_side(inbox_of_hapax(path, undone), IdOrder::by_time, kBatch, false);
}

// hapax rejects a file without WAL, so this case uses hand-written statements.
std::unique_ptr<Side> admit_by_hand(const std::string& path, const Undone& undone) {
  return admit_side(inbox_by_hand(path, undone), IdOrder::random, kBatch, false);
}

std::unique_ptr<Side> deliver(const std::string& path, const Undone& undone) {
  return delivery_side(inbox_of_hapax(path, undone), kBatch);
}

std::unique_ptr<Side> deliver_beside_blocked(const std::string& path, const Undone& undone) {
  return delivery_side(inbox_with_blocked(path, kBlocked, undone), kBatch);
}

std::unique_ptr<Side> live_in_lanes(const std::string& path, const Undone& undone) {
  return life_side(inbox_of_hapax(path, undone), kBatch, Sharing::one_transaction, 1000);
}

std::unique_ptr<Side> reject(const std::string& path, const Undone& undone) {
  return reject_side(path, 20, 16, undone);
}

Case choice(WorkDirectory& directory, const std::string& name, Undone undone,
            const OpenSide& open) {
  return {.name = "choice: " + name,
          .budget = std::nullopt,
          .unit = kBatch,
          .open = [&directory, undone = std::move(undone), open] {
            return Pair{open(directory.fresh_file(), undone), open(directory.fresh_file(), {})};
          }};
}

void add_pragmas(WorkDirectory& directory, std::vector<Case>& cases) {
  const auto add = [&](const std::string& name, const Undone& undone, const OpenSide& open) {
    cases.push_back(choice(directory, name, undone, open));
  };
  const Undone no_log{"PRAGMA journal_mode=DELETE", "journal_mode", ""};
  add("journal_mode WAL, not DELETE; admit by hand", no_log, admit_by_hand);
  const Undone normal{"PRAGMA synchronous=NORMAL", "synchronous", ""};
  add("synchronous FULL, not NORMAL; admit, random", normal, admit_random);
  const Undone in_commit{"PRAGMA wal_autocheckpoint=1000", "wal_autocheckpoint", ""};
  add("checkpoints by a thread, not every 1000 pages; admit, random", in_commit, admit_random);
  const Undone small_cache{"PRAGMA cache_size=-2000", "cache_size", ""};
  add("cache of 8 MB, not 2; admit, random", small_cache, admit_random);
  const Undone large_cache{"PRAGMA cache_size=-64000", "cache_size", ""};
  add("cache of 8 MB, not 64; admit, random", large_cache, admit_random);
  const Undone secure{"PRAGMA secure_delete=ON", "secure_delete", ""};
  add("secure_delete OFF, not ON; admit, random", secure, admit_random);
  add("secure_delete OFF, not ON; lease and settle", secure, deliver);
  const Undone keys{"PRAGMA foreign_keys=ON", "foreign_keys", ""};
  add("foreign_keys OFF, not ON; admit, random", keys, admit_random);
  const Undone mapped{"PRAGMA mmap_size=268435456", "", ""};
  add("file not mapped, not 256 MB of it; lease and settle", mapped, deliver);
}

void add_page_sizes(WorkDirectory& directory, std::vector<Case>& cases) {
  for (const int kib : {4, 8, 16}) {
    const Undone size{"PRAGMA page_size=" + std::to_string(kib * 1024), "page_size", ""};
    const std::string name = "pages as they are, not " + std::to_string(kib) + " KiB; ";
    cases.push_back(choice(directory, name + "admit, random", size, admit_random));
    cases.push_back(choice(directory, name + "admit, time-ordered", size, admit_by_time));
    cases.push_back(choice(directory, name + "lease and settle", size, deliver));
  }
}

void add_indexes(WorkDirectory& directory, std::vector<Case>& cases) {
  const auto add = [&](const std::string& name, const std::string& sql, const OpenSide& open) {
    cases.push_back(choice(directory, name, Undone{"", "", sql}, open));
  };
  const std::string due_of_all =
      "DROP INDEX hapax_queue_due; CREATE INDEX hapax_queue_due"
      " ON hapax_queue(destination, state, due_ms, event, delivery, holder)";
  add("queue_due of open ones, not of all; in 1000 lanes", due_of_all, live_in_lanes);
  add("queue_due of open ones, not of all; 100,000 blocked", due_of_all, deliver_beside_blocked);
  const std::string narrow =
      "DROP INDEX hapax_queue_due; CREATE INDEX hapax_queue_due"
      " ON hapax_queue(destination, due_ms, event, delivery) WHERE state = 0";
  add("queue_due with state and holder, not without; lease and settle", narrow, deliver);
  add("queue_rest, not without; admit, time-ordered", "DROP INDEX hapax_queue_rest", admit_by_time);
  const std::string rest_of_all =
      "DROP INDEX hapax_queue_rest; CREATE INDEX hapax_queue_rest"
      " ON hapax_queue(destination, state, lane, lane_seq)";
  add("queue_rest of the rest, not of all; admit, time-ordered", rest_of_all, admit_by_time);
  add("queue_rest of the rest, not of all; in 1000 lanes", rest_of_all, live_in_lanes);
  const std::string rest_without_lane =
      "DROP INDEX hapax_queue_rest; CREATE INDEX hapax_queue_rest"
      " ON hapax_queue(destination, state) WHERE state <> 0";
  add("queue_rest with the lane, not without; in 1000 lanes", rest_without_lane, live_in_lanes);
  add("reject_source, not without; add rejects of 20 sources", "DROP INDEX hapax_reject_source",
      reject);
}

// The same table with row ids, and a unique index in place of its key.
std::string with_row_ids(const std::string& table, const std::string& key) {
  return "CREATE TABLE other AS SELECT * FROM " + table + "; DROP TABLE " + table +
         "; ALTER TABLE other RENAME TO " + table + "; CREATE UNIQUE INDEX " + table + "_key ON " +
         table + "(" + key + ");";
}

constexpr const char* kQueueIndexes =
    "CREATE INDEX hapax_queue_due"
    " ON hapax_queue(destination, due_ms, event, delivery, state, holder) WHERE state = 0;"
    "CREATE INDEX hapax_queue_rest"
    " ON hapax_queue(destination, state, lane, lane_seq) WHERE state <> 0";

void add_tables(WorkDirectory& directory, std::vector<Case>& cases) {
  const auto add = [&](const std::string& name, const std::string& sql, const OpenSide& open) {
    cases.push_back(choice(directory, name, Undone{"", "", sql}, open));
  };
  const std::string claims = with_row_ids("hapax_event_id", "key");
  add("hapax_event_id by key, not row id; admit, random", claims, admit_random);
  add("hapax_event_id by key, not row id; admit, time-ordered", claims, admit_by_time);
  const std::string queue = with_row_ids("hapax_queue", "event, delivery") + kQueueIndexes;
  add("hapax_queue by key, not row id; admit, time-ordered", queue, admit_by_time);
  add("hapax_queue by key, not row id; lease and settle", queue, deliver);
  const std::string attempts = with_row_ids("hapax_attempt", "event, delivery, fence");
  add("hapax_attempt by key, not row id; lease and settle", attempts, deliver);
}

}  // namespace

std::vector<Case> choice_cases(WorkDirectory& directory) {
  std::vector<Case> cases;
  add_pragmas(directory, cases);
  add_page_sizes(directory, cases);
  add_indexes(directory, cases);
  add_tables(directory, cases);
  return cases;
}

}  // namespace hapax::bench
