// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "compliance/inbox_model.hpp"

#include <map>

namespace hapax::test {

// The observable result of an operation, as text that is comparable between stores.
struct Observation {
  std::string text;
  std::vector<WallTime> seen;  // may differ by kSeenSlack

  void append(const Observation& other) {
    text += other.text;
    seen.insert(seen.end(), other.seen.begin(), other.seen.end());
  }
};

// One of the compared stores: applies operations and reports their results. Fails the test if a
// fence is not larger than all before it.
class Side {
 public:
  // late_cleanup: the store may still answer from rows left behind by a removed event.
  explicit Side(InboxSubject& subject, bool late_cleanup = false);
  // Continues from `other` on a store that has all data of the other's store.
  Side(const Side& other, InboxSubject& subject);

  Observation apply(const Operation& operation);
  Observation everything();  // the complete state
  const Known& known() const { return known_; }

 private:
  friend struct Applier;

  const Driver& driver() { return subject_.driver(); }
  std::string name_of(DestinationNo number) const { return destination_names_.at(number); }
  std::string name_of(SourceNo number) const { return source_names_.at(number); }
  std::string text_of(EventNo event);  // the whole event

  InboxSubject& subject_;
  const bool late_cleanup_ = false;
  std::map<std::string, SourceNo> sources_;
  std::map<std::string, DestinationNo> destinations_;
  std::map<SourceNo, std::string> source_names_;
  std::map<DestinationNo, std::string> destination_names_;
  Known known_;
  std::vector<Fence> fences_;     // by lease
  std::vector<milliseconds> at_;  // lease times, by lease
  milliseconds passed_{};         // since the start
  std::int64_t highest_fence_ = 0;
};

}  // namespace hapax::test
