// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/batch.hpp"

#include "base/claim_key.hpp"

namespace hapax::store {

namespace {

// The source number has a fixed width, so that it cannot run into the tenant.
std::string group_of(SourceNo source, std::string_view tenant) {
  std::string group;
  for (int shift = 24; shift >= 0; shift -= 8) {
    group += static_cast<char>(source.value() >> shift & 0xff);
  }
  group += tenant;
  return group;
}

}  // namespace

std::string event_claim_key(SourceNo source, std::string_view tenant, std::string_view key) {
  return claim_key(ClaimKind::event, group_of(source, tenant), key);
}

std::string lane_key(SourceNo source, std::string_view tenant, std::string_view order_key) {
  return claim_key(ClaimKind::lane, group_of(source, tenant), order_key);
}

std::optional<AttemptOutcome> outcome_of(const Disposition& disposition) {
  struct Visitor {
    using Answer = std::optional<AttemptOutcome>;
    Answer operator()(const Ack&) const { return AttemptOutcome::completed; }
    Answer operator()(const RetryIn&) const { return AttemptOutcome::retried; }
    Answer operator()(const Drop&) const { return AttemptOutcome::dropped; }
    Answer operator()(const Dead&) const { return AttemptOutcome::dead; }
    Answer operator()(const Release&) const { return AttemptOutcome::released; }
    Answer operator()(const Renew&) const { return std::nullopt; }
  };
  return std::visit(Visitor{}, disposition);
}

Answers failed(const Batch& batch, const Error& error) {
  Answers answers;
  if (!batch.settle.empty()) answers.settle = error;
  answers.admit.assign(batch.admit.size(), error);
  if (!batch.lease.empty()) answers.lease = error;
  return answers;
}

}  // namespace hapax::store
