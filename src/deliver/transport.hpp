// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "async/task.hpp"
#include "deliver/destination.hpp"
#include "store/batch.hpp"

#include <string>

namespace hapax::deliver {

// The result of one attempt, before it is classified.
struct AttemptResponse {
  int status = 0;           // of HTTP; 0: no response
  std::string error;        // class of failure if status is 0: "timed-out", "refused"
  std::string retry_after;  // the header, unparsed
  std::string excerpt;      // start of the response body, at most store::kMaxExcerpt
  bool sent = true;         // part of the request may have been sent
  bool tried = true;        // false: hapax could not start; not a failure of the handler
};

// Sends a delivery to its destination and returns the response, within the destination's
// timeout or a little more. The simulator has its own implementation.
class Transport {
 public:
  virtual ~Transport() = default;
  // Both arguments must outlive the call.
  virtual Task<AttemptResponse> send(const Destination& to, const store::Leased& what) = 0;
};

}  // namespace hapax::deliver
