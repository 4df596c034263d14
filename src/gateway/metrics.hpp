// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>
#include <hapax/reason.hpp>

#include "commit/queue.hpp"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>

namespace hapax::gateway {

// What is counted of one source. Lives as long as the server, also when the source leaves the
// configuration: a counter never goes back.
struct SourceMetrics {
  prometheus::Counter& accepted;
  prometheus::Counter& duplicate;
  prometheus::Counter& changed;
  prometheus::Counter& bytes;
  prometheus::Gauge& last_seen;  // of an accepted or duplicate arrival, seconds since 1970
};

// All numbers of a server, as Prometheus reads them. Thread-safe.
class Metrics {
 public:
  Metrics();

  SourceMetrics& of_source(const std::string& name);
  // An arrival that was not taken: by its reason's or error's name. `source` is empty where it is
  // not known, so that a stranger cannot make up labels.
  void refused(const std::string& source, std::string_view name);
  void batch(const CommitQueue::Batch& batch);
  prometheus::Gauge& queue_depth() { return queue_depth_; }
  prometheus::Gauge& connections() { return connections_; }
  prometheus::Counter& turned_away() { return turned_away_; }

  std::string text() const;  // Prometheus' text format

 private:
  prometheus::Counter& arrivals(const std::string& source, std::string_view outcome);

  prometheus::Registry registry_;
  prometheus::Family<prometheus::Counter>& arrivals_;
  prometheus::Family<prometheus::Counter>& bytes_;
  prometheus::Family<prometheus::Gauge>& last_seen_;
  prometheus::Histogram& batch_size_;
  prometheus::Histogram& commit_seconds_;
  prometheus::Gauge& queue_depth_;
  prometheus::Gauge& connections_;
  prometheus::Counter& turned_away_;
  std::mutex mutex_;
  std::map<std::string, SourceMetrics> sources_;
};

}  // namespace hapax::gateway
