// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "gateway/metrics.hpp"

#include <prometheus/text_serializer.h>

namespace hapax::gateway {

namespace {

using prometheus::Histogram;

const Histogram::BucketBoundaries kBatchSizes{1, 2, 4, 8, 16, 32, 64, 128, 256, 512};
const Histogram::BucketBoundaries kSeconds{
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5};
const Histogram::BucketBoundaries kAttemptSeconds{
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60};

template <class Builder>
auto& family(prometheus::Registry& registry, Builder builder, const char* name, const char* help) {
  return builder.Name(name).Help(help).Register(registry);
}

}  // namespace

Metrics::Metrics()
    : arrivals_(family(registry_, prometheus::BuildCounter(), "hapax_arrivals_total",
                       "Requests to /in/ by source and outcome")),
      bytes_(family(registry_, prometheus::BuildCounter(), "hapax_arrival_bytes_total",
                    "Body bytes of accepted and duplicate requests")),
      last_seen_(family(registry_, prometheus::BuildGauge(), "hapax_source_last_seen_seconds",
                        "Unix time of the last authentic request of a source")),
      rejects_(family(registry_, prometheus::BuildCounter(), "hapax_rejects_total",
                      "Rejected requests that were stored, by source and reason")),
      dropped_(family(registry_, prometheus::BuildCounter(), "hapax_rejects_dropped_total",
                      "Rejected requests dropped under overload")),
      admitted_(family(registry_, prometheus::BuildCounter(), "hapax_rejects_admitted_total",
                       "Rejects re-admitted")),
      attempts_(family(registry_, prometheus::BuildCounter(), "hapax_attempts_total",
                       "Delivery attempts by destination and outcome")),
      attempt_seconds_(family(registry_, prometheus::BuildHistogram(), "hapax_attempt_seconds",
                              "Duration of delivery attempts in seconds")),
      under_way_(family(registry_, prometheus::BuildGauge(), "hapax_deliveries_under_way",
                        "Attempts in flight")),
      breaker_(family(registry_, prometheus::BuildGauge(), "hapax_breaker_state",
                      "Circuit breaker state: 0 closed, 1 open, 2 half-open")),
      evicted_(family(registry_, prometheus::BuildCounter(), "hapax_rejects_evicted_total",
                      "Rejects evicted by newer ones")
                   .Add({})),
      batch_size_(family(registry_, prometheus::BuildHistogram(), "hapax_commit_batch_size",
                         "Requests per group commit")
                      .Add({}, kBatchSizes)),
      commit_seconds_(family(registry_, prometheus::BuildHistogram(), "hapax_commit_seconds",
                             "Duration of group commits in seconds")
                          .Add({}, kSeconds)),
      queue_depth_(family(registry_, prometheus::BuildGauge(), "hapax_commit_queue_depth",
                          "Requests waiting for the store")
                       .Add({})),
      connections_(family(registry_, prometheus::BuildGauge(), "hapax_connections",
                          "Open connections of both listeners")
                       .Add({})),
      connections_rejected_(family(registry_, prometheus::BuildCounter(),
                                   "hapax_connections_refused_total",
                                   "Connections rejected by a limit")
                                .Add({})),
      double_claims_(family(registry_, prometheus::BuildCounter(),
                            "hapax_store_double_claims_total",
                            "Event ids claimed twice; always 0 unless hapax has a bug")
                         .Add({})) {}

prometheus::Counter& Metrics::arrivals(prometheus::Labels labels, std::string_view outcome) {
  labels["outcome"] = std::string(outcome);
  return arrivals_.Add(labels);
}

SourceMetrics& Metrics::of_source(const std::string& name, const std::string& tenant) {
  const std::lock_guard lock(mutex_);
  const auto found = sources_.find({name, tenant});
  if (found != sources_.end()) return found->second;
  prometheus::Labels labels{{"source", name}};
  if (!tenant.empty()) labels["tenant"] = tenant;
  const SourceMetrics made{arrivals(labels, "accepted"), arrivals(labels, "duplicate"),
                           arrivals(labels, "changed"),  arrivals(labels, "would-reject"),
                           bytes_.Add(labels),           last_seen_.Add(labels)};
  return sources_.emplace(std::pair(name, tenant), made).first->second;
}

DestinationMetrics& Metrics::of_destination(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto found = destinations_.find(name);
  if (found != destinations_.end()) return found->second;
  const auto attempts = [&](const char* outcome) -> prometheus::Counter& {
    return attempts_.Add({{"destination", name}, {"outcome", outcome}});
  };
  const prometheus::Labels labels{{"destination", name}};
  const DestinationMetrics made{attempts("completed"),
                                attempts("retried"),
                                attempts("dead"),
                                attempts("stale"),
                                attempt_seconds_.Add(labels, kAttemptSeconds),
                                under_way_.Add(labels),
                                breaker_.Add(labels)};
  return destinations_.emplace(name, made).first->second;
}

void DestinationMetrics::attempted(std::string_view outcome, std::chrono::microseconds took) {
  seconds.Observe(std::chrono::duration<double>(took).count());
  prometheus::Counter& counter = outcome == "completed" ? completed
                                 : outcome == "retried" ? retried
                                 : outcome == "dead"    ? dead
                                                        : stale;
  counter.Increment();
}

void Metrics::refused(const std::string& source, std::string_view name) {
  arrivals({{"source", source}}, name).Increment();
}

void Metrics::rejected(const std::string& source, std::string_view reason) {
  rejects_.Add({{"source", source}, {"reason", std::string(reason)}}).Increment();
}

void Metrics::rejects_dropped(const std::string& source, std::uint64_t count) {
  dropped_.Add({{"source", source}}).Increment(static_cast<double>(count));
}

void Metrics::reject_admitted(const std::string& source) {
  admitted_.Add({{"source", source}}).Increment();
}

void Metrics::batch(const GroupCommitQueue::BatchStats& batch) {
  batch_size_.Observe(static_cast<double>(batch.requests));
  commit_seconds_.Observe(std::chrono::duration<double>(batch.took).count());
}

bool Metrics::claim_faults(const store::ClaimFaults& faults) {
  const double more = static_cast<double>(faults.doubled) - double_claims_.Value();
  if (more > 0) double_claims_.Increment(more);
  return more > 0;
}

std::string Metrics::text() const {
  return prometheus::TextSerializer().Serialize(registry_.Collect());
}

}  // namespace hapax::gateway
