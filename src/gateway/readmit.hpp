// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "gateway/endpoint.hpp"

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

namespace hapax::gateway {

// Re-admits rejects with the current configuration, as of their time of receipt. Uses the normal
// ingest pipeline: nothing is accepted that would not have been accepted then. Calls block.
// Thread-safe.
class Readmission {
 public:
  struct Deps {
    store::Driver& driver;
    AsyncStore& async_store;
    NodeNumbers& numbers;
    DuplicateCounts& duplicates;
    UnclaimedRate& unclaimed;
    DeliveryNotifier& notifier;
    Metrics& metrics;
    Clock& clock;
    store::StoreSecret secret;
    std::function<std::shared_ptr<const Sources>()> sources;  // in force now
  };

  explicit Readmission(Deps deps) : deps_(std::move(deps)) {}

  struct Absent {};
  struct StillInvalid {
    std::string reason;  // "signature-invalid", "source-unknown"
    std::string detail;
  };
  struct Admitted {
    std::string json;  // as an arrival is answered
  };
  // An admitted reject is gone.
  Result<std::variant<Absent, StillInvalid, Admitted>> admit(RejectNo number);

  // A step of many, oldest first.
  struct Step {
    store::RejectFilter filter = {};
    RejectNo after{};
    std::size_t limit = 500;
    bool dry = false;  // only look
  };
  struct Stepped {
    std::size_t matched = 0;
    std::size_t admitted = 0;    // rejects that are events now, or would be
    std::size_t duplicates = 0;  // whose events were all there already
    std::size_t still_invalid = 0;
    std::map<std::string, std::size_t> reasons;  // of those
    std::optional<RejectNo> next;                // `after` of the next step; nothing: that was all
  };
  // An error: what was done until then is done, and a step from the same place finds the rest.
  Result<Stepped> admit(const Step& step);

  // What would be said to it now.
  struct Diagnosis {
    std::optional<StillInvalid> invalid;   // nothing: it would be admitted
    std::vector<std::string> explanation;  // what is likely wrong, most likely first
  };
  Diagnosis diagnose(const store::StoredReject& stored);

 private:
  struct Candidate;
  using Group = std::vector<std::unique_ptr<Candidate>>;

  std::unique_ptr<Candidate> prepare(store::StoredReject stored,
                                     std::shared_ptr<const Sources> sources) const;
  void run(Group& group);
  Result<void> dry_run(Group& group);
  Result<void> settle(Group& group);

  Deps deps_;
  // Lives as long as this: a store thread may still be at it when the last answer is here.
  std::mutex loop_mutex_;
  boost::asio::io_context loop_{1};
};

}  // namespace hapax::gateway
