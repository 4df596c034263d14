// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "async/task.hpp"
#include "deliver/destination.hpp"
#include "store/inbox_queue.hpp"

#include <string>

namespace hapax::deliver {

// What came of one attempt, before it is classified.
struct AttemptResponse {
  int status = 0;           // of HTTP; 0: there was none
  std::string error;        // without a status: the class of failure: "timed-out", "refused"
  std::string retry_after;  // the header of that name, as it came
  std::string excerpt;      // the first bytes of the answer's body, store::kMaxExcerpt at most
  bool sent = true;         // a byte of the request may have gone out
  bool tried = true;        // false: hapax itself could not begin; the handler is not to blame
};

// Sends a delivery to its destination and returns the response, within the destination's
// timeout or a little more. The simulator has one of its own.
class Transport {
 public:
  virtual ~Transport() = default;
  // Both live until the answer is there.
  virtual Task<AttemptResponse> send(const Destination& to, const store::Leased& what) = 0;
};

}  // namespace hapax::deliver
