// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "daemon/limits.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace hapax::daemon {

namespace {

constexpr std::size_t kFewest = 256;           // open files assumed as a minimum
constexpr std::size_t kOwn = 128;              // for the store, the log, the event loops
constexpr std::size_t kAdminMost = 1024;       // connections of workers and operators
constexpr std::size_t kMostCounted = 1 << 22;  // if there is no limit

// Idle timeout on the admin listener for clients without a token. It differs from the usual
// intervals of probes and scrapes, so that no request meets a connection that is being closed.
constexpr std::chrono::seconds kStrangerIdle{7};

// The share of one address: others, such as health probes, can still connect.
std::size_t three_quarters(std::size_t connections) {
  return std::max<std::size_t>(connections * 3 / 4, 1);
}

http::ConnectionLimits connection_limits(std::size_t connections, std::size_t per_address) {
  http::ConnectionLimits limiter;
  limiter.connections = connections;
  limiter.connections_per_address = std::min(per_address, connections);
  return limiter;
}

}  // namespace

std::size_t raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return kFewest;
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) limit.rlim_cur = before;
  return static_cast<std::size_t>(std::min<rlim_t>(limit.rlim_cur, kMostCounted));
}

std::size_t outgoing_of(const std::vector<deliver::Destination>& destinations) {
  std::size_t sum = 0;
  for (const deliver::Destination& each : destinations) {
    if (each.kind != deliver::Destination::Kind::http) continue;
    sum += each.concurrency * (each.refetch.empty() ? 1 : 2);
  }
  return 2 * sum;  // in use and pooled
}

DescriptorBudget descriptor_budget(const ServerLimits& wanted, std::size_t open_files,
                                   std::size_t outgoing) {
  std::size_t files = std::max(open_files, kFewest) - kOwn;
  files -= std::min(outgoing, files / 2);
  const std::size_t admin = std::min(kAdminMost, files / 4);
  const std::size_t connections = std::min(wanted.connections, files - admin);
  DescriptorBudget budget;
  budget.listen.idle = wanted.idle;
  budget.listen.head_time = wanted.header;
  budget.listen.request_time = wanted.body;
  budget.listen.write_time = wanted.write;
  budget.admin = budget.listen;
  budget.listen.limiter =
      connection_limits(connections, wanted.per_address.value_or(three_quarters(connections)));
  budget.admin.stranger_idle = kStrangerIdle;
  budget.admin.limiter = connection_limits(admin, three_quarters(admin));
  return budget;
}

}  // namespace hapax::daemon
