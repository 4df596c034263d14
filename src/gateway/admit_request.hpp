// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "gateway/receive.hpp"

#include <deque>
#include <string>
#include <vector>

namespace hapax::gateway {

// The first item that cannot be taken, or null.
const Item* first_refused(const Identified& identified);
// Takes out those that cannot be.
std::vector<Item> take_refused(Identified& identified);

// The events of one request in store form. Holds views of its inputs, which must outlive it.
class AdmitRequest {
 public:
  // Of one event at least. store_unavailable: no event numbers can be made now. invalid_argument:
  // over a limit.
  static Result<AdmitRequest> make(const Source& source, const Request& request,
                                   const Identified& identified, NodeNumbers& numbers);

  // Marks the events as those of this reject; items without an id are claimed by it.
  void claim_by_reject(RejectNo reject);
  // Shows this object too, which must stay where it is.
  store::Admit admit(Would would = Would::none);
  // What the store said of each, with duplicates counted.
  std::vector<Accepted> accepted(const std::vector<store::Admission>& admissions, WallTime now,
                                 DuplicateCounts& duplicates) const;

 private:
  std::string headers_;
  std::vector<store::Arrival> arrivals_;
  std::deque<std::string> keys_;  // of claim_by_reject()
  bool enforce_ = true;
};

}  // namespace hapax::gateway
