// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "gateway/serve.hpp"

#include <boost/json.hpp>

#include <string>
#include <vector>

namespace hapax::test {

// A delivery leased by a worker.
struct LeasedDelivery {
  std::string delivery;
  std::int64_t fence = 0;
  std::string id;
  std::int64_t attempt = 0;
};

// A worker's client of the pull API of a real server.
class PullClient {
 public:
  // Default: the admin token.
  explicit PullClient(const Serve& serve, std::string token = "");

  HttpAnswer post(const std::string& path, const std::string& body) const;
  // `more`: further members, like R"(,"wait_s":20)". Leases for an hour, longer than any test.
  std::vector<LeasedDelivery> lease(const std::string& destination,
                                    const std::string& more = "") const;
  // Returns "ok", "stale" or "unknown".
  std::string settle(const LeasedDelivery& what, const std::string& outcome,
                     const std::string& more = "") const;

 private:
  const Serve& serve_;
  const std::string token_;
};

std::string admin_token(const Serve& serve);

}  // namespace hapax::test
