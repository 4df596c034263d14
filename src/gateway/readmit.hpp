// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "gateway/endpoint.hpp"
#include "store/catalog.hpp"
#include "store/rejects.hpp"

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
    store::Catalog& catalog;
    store::Rejects& rejects;
    ReceiverDeps receiver;
    Metrics& metrics;
    store::StoreSecret secret;
    std::function<std::shared_ptr<const Sources>()> sources;  // currently active
  };

  explicit Readmission(Deps deps) : deps_(std::move(deps)) {}

  struct Absent {};
  struct StillInvalid {
    std::string reason;  // "signature-invalid", "source-unknown"
    std::string detail;
  };
  struct Admitted {
    std::string json;  // as in the response to an arrival
  };
  // An admitted reject is removed, unless items of it are still rejected.
  Result<std::variant<Absent, StillInvalid, Admitted>> admit(RejectNo number);

  // One step of a bulk re-admission, oldest first.
  struct Step {
    store::RejectFilter filter = {};
    RejectNo after{};
    std::size_t limit = 500;
    bool dry = false;  // dry run
  };
  struct Stepped {
    std::size_t matched = 0;
    std::size_t admitted = 0;    // now events; dry run: would be
    std::size_t duplicates = 0;  // all events were already stored
    std::size_t still_invalid = 0;
    std::map<std::string, std::size_t> reasons;  // of still_invalid
    std::optional<RejectNo> next;                // `after` of the next step; nullopt: done
  };
  // On an error completed work is kept; a step from the same place continues.
  Result<Stepped> admit(const Step& step);

  // The current result of a re-admission.
  struct Diagnosis {
    std::optional<StillInvalid> invalid;   // nullopt: it would be admitted
    std::vector<std::string> explanation;  // probable causes, most likely first
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
  // A member: a store thread may still use it after the last result has arrived.
  std::mutex loop_mutex_;
  boost::asio::io_context loop_{1};
};

}  // namespace hapax::gateway
