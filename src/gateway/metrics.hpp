// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>
#include <hapax/verify.hpp>

#include "async/group_commit_queue.hpp"
#include "store/catalog.hpp"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>

namespace hapax::gateway {

// Metrics of one source or declared tenant. They live as long as the server, even if the source
// leaves the configuration: a counter must not decrease.
struct SourceMetrics {
  prometheus::Counter& accepted;
  prometheus::Counter& duplicate;
  prometheus::Counter& changed;
  prometheus::Counter& would_reject;  // observe mode
  prometheus::Counter& bytes;
  prometheus::Gauge& last_seen;  // of an accepted or duplicate arrival, seconds since 1970
};

// Metrics of one push destination, with the same lifetime.
struct DestinationMetrics {
  prometheus::Counter& completed;
  prometheus::Counter& retried;
  prometheus::Counter& dead;
  prometheus::Counter& stale;  // another holder had the lease by then
  prometheus::Histogram& seconds;
  prometheus::Gauge& under_way;
  prometheus::Gauge& breaker;  // 0 closed, 1 open, 2 half-open

  void attempted(std::string_view outcome, std::chrono::microseconds took);
};

// All Prometheus metrics of a server. Thread-safe.
class Metrics {
 public:
  Metrics();

  // `tenant` must be a declared one, so that senders cannot create labels; empty: none.
  SourceMetrics& of_source(const std::string& name, const std::string& tenant);
  DestinationMetrics& of_destination(const std::string& name);
  // Counts a rejected arrival by the name of its reason or error. `source` is empty if unknown, so
  // that strangers cannot create labels.
  void refused(const std::string& source, std::string_view name);
  // Counts rejects: written to the store, evicted there, dropped under overload, and re-admitted.
  void rejected(const std::string& source, std::string_view reason);
  void rejects_evicted(std::size_t count) { evicted_.Increment(static_cast<double>(count)); }
  void rejects_dropped(const std::string& source, std::uint64_t count);
  void reject_admitted(const std::string& source);
  void batch(const GroupCommitQueue::BatchStats& batch);
  // `faults` are totals of the store. Returns true if they have increased since the last call.
  bool claim_faults(const store::ClaimFaults& faults);
  prometheus::Gauge& queue_depth() { return queue_depth_; }
  prometheus::Gauge& connections() { return connections_; }
  prometheus::Counter& connections_rejected() { return connections_rejected_; }

  std::string text() const;  // Prometheus' text format

 private:
  prometheus::Counter& arrivals(prometheus::Labels labels, std::string_view outcome);

  prometheus::Registry registry_;
  prometheus::Family<prometheus::Counter>& arrivals_;
  prometheus::Family<prometheus::Counter>& bytes_;
  prometheus::Family<prometheus::Gauge>& last_seen_;
  prometheus::Family<prometheus::Counter>& rejects_;
  prometheus::Family<prometheus::Counter>& dropped_;
  prometheus::Family<prometheus::Counter>& admitted_;
  prometheus::Family<prometheus::Counter>& attempts_;
  prometheus::Family<prometheus::Histogram>& attempt_seconds_;
  prometheus::Family<prometheus::Gauge>& under_way_;
  prometheus::Family<prometheus::Gauge>& breaker_;
  prometheus::Counter& evicted_;
  prometheus::Histogram& batch_size_;
  prometheus::Histogram& commit_seconds_;
  prometheus::Gauge& queue_depth_;
  prometheus::Gauge& connections_;
  prometheus::Counter& connections_rejected_;
  prometheus::Counter& double_claims_;
  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, SourceMetrics> sources_;
  std::map<std::string, DestinationMetrics> destinations_;
};

}  // namespace hapax::gateway
