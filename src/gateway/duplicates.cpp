// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "gateway/duplicates.hpp"

#include <vector>

namespace hapax::gateway {

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
  keep_changed(*entry, digest, at, body);
}

void DuplicateCounts::keep_changed(Entry& entry, const Digest& digest, WallTime at,
                                   std::string_view body) {
  if (bytes_ + body.size() > kMaxBytes) return;
  if (entry.changed) bytes_ -= entry.changed->body.size();
  entry.changed = Changed{digest, at, std::string(body)};
  bytes_ += body.size();
}

DuplicateCounts::Entries DuplicateCounts::take() {
  Entries taken;
  const std::lock_guard lock(mutex_);
  while (!entries_.empty() && taken.size() < kAtOnce) {
    auto node = entries_.extract(entries_.begin());
    if (node.mapped().changed) bytes_ -= node.mapped().changed->body.size();
    taken.insert(std::move(node));
  }
  return taken;
}

void DuplicateCounts::put_back(const Entries& entries) {
  const std::lock_guard lock(mutex_);
  for (const auto& [event, before] : entries) {
    Entry* entry = entry_of(event);
    if (entry == nullptr) continue;
    entry->count += before.count;
    const std::optional<Changed>& changed = before.changed;
    if (changed && !entry->changed) {
      keep_changed(*entry, changed->digest, changed->at, changed->body);
    }
  }
}

Result<bool> DuplicateCounts::write_to(store::Queue& queue) {
  const Entries taken = take();
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
  const Result<void> noted = queue.note_duplicates(notes);
  if (noted) return taken.size() == kAtOnce;
  const Error& error = noted.error();
  if (error.outcome() == Outcome::did_not_happen && error.retryable()) put_back(taken);
  return error;
}

}  // namespace hapax::gateway
