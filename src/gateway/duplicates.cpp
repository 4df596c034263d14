// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "gateway/duplicates.hpp"

#include "base/try.hpp"
#include "store/contract.hpp"

#include <vector>

namespace hapax::gateway {

namespace {

constexpr std::size_t kAtOnce = 256;  // events in one transaction

}  // namespace

DuplicateCounts::Entry* DuplicateCounts::entry_of(EventNo event) {
  const auto found = entries_.find(event);
  if (found != entries_.end()) return &found->second;
  if (entries_.size() >= kMaxEvents) return nullptr;
  return &entries_[event];
}

void DuplicateCounts::count(EventNo event) {
  const std::lock_guard lock(mutex_);
  if (Entry* entry = entry_of(event)) ++entry->count;
}

void DuplicateCounts::count_changed(EventNo event, const Digest& digest, WallTime at,
                                    std::string_view body) {
  const std::lock_guard lock(mutex_);
  Entry* entry = entry_of(event);
  if (entry == nullptr) return;
  ++entry->count;
  if (bytes_ + body.size() > kMaxBytes) return;
  if (entry->changed) bytes_ -= entry->changed->body.size();
  entry->changed = Changed{digest, at, std::string(body)};
  bytes_ += body.size();
}

Result<bool> DuplicateCounts::write_to(store::Driver& driver) {
  std::map<EventNo, Entry> taken;
  {
    const std::lock_guard lock(mutex_);
    while (!entries_.empty() && taken.size() < kAtOnce) {
      auto node = entries_.extract(entries_.begin());
      if (node.mapped().changed) bytes_ -= node.mapped().changed->body.size();
      taken.insert(std::move(node));
    }
  }
  if (taken.empty()) return false;
  std::vector<store::DuplicateNote> notes;
  notes.reserve(taken.size());
  for (const auto& [event, entry] : taken) {
    store::DuplicateNote note{.event = event, .count = entry.count};
    if (const auto& changed = entry.changed) {
      note.changed = store::DuplicateNote::Changed{changed->digest, changed->at, changed->body};
    }
    notes.push_back(note);
  }
  HAPAX_TRY(driver.note_duplicates(notes));
  return taken.size() == kAtOnce;
}

}  // namespace hapax::gateway
