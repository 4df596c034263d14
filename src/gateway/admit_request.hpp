// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "gateway/receive.hpp"

#include <deque>
#include <string>
#include <vector>

namespace hapax::gateway {

// The first unusable item, or null.
const Item* first_refused(const Identified& identified);
// Removes the unusable items and returns them.
std::vector<Item> take_refused(Identified& identified);

// The events of one request in store form. Holds views of its inputs, which must outlive it.
class AdmitRequest {
 public:
  // `identified` has at least one item. Fails with store_unavailable if no event numbers can be
  // generated, or invalid_argument if a limit is exceeded.
  static Result<AdmitRequest> make(const Source& source, const Request& request,
                                   const Identified& identified, NodeNumbers& numbers);

  // Claims items without an id under the number of this reject.
  void claim_by_reject(RejectNo reject);
  // The result has views of this object, which must not move.
  store::Admit admit(Would would = Would::none);
  const RoutingTable& targets() const { return *targets_; }  // of the events
  // The store's result for each event. Also counts the duplicates.
  std::vector<Accepted> accepted(const std::vector<store::Admission>& admissions, WallTime now,
                                 DuplicateCounts& duplicates) const;

 private:
  std::string headers_;
  std::shared_ptr<const RoutingTable> targets_;
  std::vector<store::Arrival> arrivals_;
  std::deque<std::string> keys_;  // of claim_by_reject()
  bool enforce_ = true;
};

}  // namespace hapax::gateway
