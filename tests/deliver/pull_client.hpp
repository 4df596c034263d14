// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "gateway/serve.hpp"

#include <boost/json.hpp>

#include <string>
#include <vector>

namespace hapax::test {

// A delivery in a worker's hands.
struct InHand {
  std::string delivery;
  std::int64_t fence = 0;
  std::string id;
  std::int64_t attempt = 0;
};

// The pull API of a real server, as a worker sees it.
class PullClient {
 public:
  // Without a token: the admin's.
  explicit PullClient(const Serve& serve, std::string token = "");

  HttpAnswer post(const std::string& path, const std::string& body) const;
  // `more` are further members: R"(,"wait_s":20)". For an hour, so that no lease lapses in a test.
  std::vector<InHand> lease(const std::string& destination, const std::string& more = "") const;
  // "ok", "stale" or "unknown".
  std::string settle(const InHand& what, const std::string& outcome,
                     const std::string& more = "") const;

 private:
  const Serve& serve_;
  const std::string token_;
};

std::string admin_token(const Serve& serve);

}  // namespace hapax::test
