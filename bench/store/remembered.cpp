// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "bench/store/remembered.hpp"

#include "bench/must.hpp"
#include "bench/store/inbox_sides.hpp"
#include "store/driver.hpp"

#include <malloc.h>

#include <algorithm>
#include <fstream>
#include <iomanip>
#include <ostream>

namespace hapax::bench {

namespace {

constexpr std::size_t kFew = 10'000;
constexpr std::size_t kBatch = 64;
constexpr std::size_t kSorted = 500'000;  // claims written in one transaction
constexpr std::size_t kEvents = 100'000;  // for the size of an event
constexpr std::size_t kMaxMemoryMiB = 256;
constexpr double kMaxDisk = 1.6;
constexpr double kByTimeBudget = 0.9;
constexpr double kRandomBudget = 0.5;

// Each part is sorted, so that it touches every page once and filling takes minutes instead of
// hours. Pages are split in the middle, as by random ids.
void write_part(Query& claim, Ids& ids, std::size_t first, std::size_t count) {
  std::vector<std::string> keys;
  keys.reserve(count);
  for (const std::string& id : ids.next(count)) {
    keys.push_back(store::event_claim_key(SourceNo(kSource), "", id));
  }
  std::sort(keys.begin(), keys.end());
  const std::int64_t until = expiry_ms();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    claim.bind(1, keys[i]);
    claim.bind(2, (std::int64_t{1} << 57) + static_cast<std::int64_t>(first + i));
    claim.bind(3, until);
    claim.run();
  }
}

// Resets the peak, so that the memory for filling the store is not counted.
void forget_peak() {
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << "5";
}

std::size_t peak_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::size_t kib = 0;
    if (word == "VmHWM:" && status >> kib) return kib;
  }
  return 0;
}

// The size of a delivered event: its claim, its bytes and its attempt.
double bytes_per_event(const std::string& path, IdOrder order, const Undone& page_size) {
  {
    const std::unique_ptr<InboxWay> inbox = inbox_of_hapax(path, page_size);
    Requests requests(order);
    std::vector<InboxWay::Held> held;
    for (std::size_t done = 0; done < kEvents; done += 1000) {
      held = inbox->turn(held, requests.next(1000), 1000);
    }
    inbox->ack(held);
  }
  return static_cast<double>(std::filesystem::file_size(path)) / kEvents;
}

}  // namespace

Remembered::Remembered(WorkDirectory& directory, std::size_t ids, std::size_t page_size)
    : directory_(directory), ids_(ids) {
  if (page_size == 0) return;
  page_size_ = {"PRAGMA page_size=" + std::to_string(page_size), "page_size", ""};
}

// Creates a file that remembers the first `count` ids of that order, without their events.
std::string Remembered::fill(IdOrder order, std::size_t count, const Undone& page_size) {
  std::string path = directory_.fresh_file();
  make_undone(path, page_size);
  const Database db = open_database(path);
  execute(db.get(), "PRAGMA journal_mode=DELETE; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF");
  Ids ids(order);
  for (std::size_t done = 0; done < count; done += kSorted) {
    Query claim(db.get(), "INSERT INTO hapax_event_id VALUES(?1, ?2, ?3)");
    execute(db.get(), "BEGIN");
    write_part(claim, ids, done, std::min(kSorted, count - done));
    execute(db.get(), "COMMIT");
  }
  execute(db.get(), "UPDATE hapax_sweep SET floor = 1 << 58");
  bytes_per_id_[order] =
      static_cast<double>(std::filesystem::file_size(path)) / static_cast<double>(count);
  return path;
}

void Remembered::note_peak() {
  peak_kib_ = std::max(peak_kib_, peak_kib());
}

std::vector<Case> Remembered::cases() {
  std::vector<Case> cases;
  for (const IdOrder order : {IdOrder::by_time, IdOrder::random}) {
    cases.push_back(
        {.name = std::to_string(ids_) + " remembered beside 10000, " + std::string(name(order)),
         .budget = order == IdOrder::by_time ? kByTimeBudget : kRandomBudget,
         .unit = kBatch,
         .open = [this, order] {
           if (!bytes_per_id_.empty()) note_peak();
           const std::string few = fill(order, kFew, page_size_);
           const std::string many = fill(order, ids_, page_size_);
           forget_peak();
           return Pair{admit_side(inbox_of_hapax(few), order, kBatch, false, ids_),
                       admit_side(inbox_of_hapax(many), order, kBatch, false, ids_)};
         }});
  }
  return cases;
}

void Remembered::print_disk(std::ostream& out, IdOrder order) {
  const double bytes = bytes_per_event(directory_.fresh_file(), order, page_size_);
  const std::size_t payload = Requests::headers().size() + Requests::body().size();
  out << name(order) << ": " << bytes_per_id_[order] << " bytes of disk per remembered id, "
      << bytes << " per event, " << std::setprecision(2) << bytes / static_cast<double>(payload)
      << " x payload and headers (budget " << kMaxDisk << ")\n"
      << std::setprecision(0);
}

void Remembered::print_sizes(std::ostream& out) {
  note_peak();
  out << std::fixed << std::setprecision(0);
  out << "memory of the process at most, both stores and the input: " << peak_kib_ / 1024
      << " MiB (budget " << kMaxMemoryMiB << ")\n";
  for (const auto& [order, bytes] : bytes_per_id_) print_disk(out, order);
}

}  // namespace hapax::bench
