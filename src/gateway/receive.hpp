// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/handshake.hpp>

#include "commit/queue.hpp"
#include "gateway/duplicates.hpp"
#include "gateway/numbers.hpp"
#include "gateway/source.hpp"
#include "gateway/unclaimed_rate.hpp"

#include <string>
#include <variant>
#include <vector>

namespace hapax::gateway {

struct Accepted {
  EventNo event;  // the one that has the id: of a duplicate the first one's
  std::string id;
  bool duplicate = false;
  bool changed = false;       // a duplicate with another body
  Would would = Would::none;  // observe mode: stored as `event`, without a claim
};

struct Refused {
  Reason reason = Reason::none;
  std::string detail;  // for the log; never for the sender
};

// What became of one request: events that are durable, in its order; a refusal; an answer that is
// not about an event; or an error of the store, after which nothing is promised.
using Received = std::variant<std::vector<Accepted>, Refused, HandshakeAnswer, Error>;

// The way of a request, stage after stage. One per I/O thread.
class Receiver {
 public:
  Receiver(CommitQueue& commit, NodeNumbers& numbers, DuplicateCounts& duplicates,
           UnclaimedRate& unclaimed, Clock& clock)
      : commit_(commit),
        numbers_(numbers),
        duplicates_(duplicates),
        unclaimed_(unclaimed),
        clock_(clock) {}

  // Both must live until the answer is there.
  Task<Received> receive(const Source& source, const Request& request);

  // Observe mode: of what was `received` of a source that does not enforce, stores what was refused
  // or a duplicate, and says so in `received`. In observe.cpp.
  Task<void> observe(const Source& source, const Request& request, Received& received);

 private:
  CommitQueue& commit_;
  NodeNumbers& numbers_;
  DuplicateCounts& duplicates_;
  UnclaimedRate& unclaimed_;
  Clock& clock_;
  Scratch scratch_;
};

}  // namespace hapax::gateway
