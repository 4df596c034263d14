// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "compliance/inbox_model.hpp"

#include <map>

namespace hapax::test {

// What an operation let one see, in words that mean the same on every store.
struct Observation {
  std::string text;
  std::vector<WallTime> seen;  // may differ by kSeenSlack

  void append(const Observation& other) {
    text += other.text;
    seen.insert(seen.end(), other.seen.begin(), other.seen.end());
  }
};

// One of the stores that are compared: applies operations and says what was to be seen. A fence
// that is not larger than those before it is a failure of the test.
class Side {
 public:
  // forgets_late: a store may answer from what is left beside an event that is gone.
  explicit Side(InboxSubject& subject, bool forgets_late = false);
  // Goes on where `other` stands, on a store that has all that the other one's has.
  Side(const Side& other, InboxSubject& subject);

  Observation apply(const Operation& operation);
  Observation everything();  // every event in full
  const Known& known() const { return known_; }

 private:
  friend struct Applier;

  const Driver& driver() { return subject_.driver(); }
  std::string name_of(DestinationNo number) const { return destination_names_.at(number); }
  std::string name_of(SourceNo number) const { return source_names_.at(number); }
  std::string text_of(EventNo event);  // the whole event

  InboxSubject& subject_;
  const bool forgets_late_ = false;
  std::map<std::string, SourceNo> sources_;
  std::map<std::string, DestinationNo> destinations_;
  std::map<SourceNo, std::string> source_names_;
  std::map<DestinationNo, std::string> destination_names_;
  Known known_;
  std::vector<Fence> fences_;     // by lease
  std::vector<milliseconds> at_;  // when: by lease
  milliseconds passed_{};         // since the start
  std::int64_t highest_fence_ = 0;
};

}  // namespace hapax::test
