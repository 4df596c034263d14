// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "gateway/metrics.hpp"
#include "admin/api/resources.hpp"

namespace hapax::admin {

Result<http::Reply> show_metrics(const ApiContext& context, const Call&) {
  return http::Reply{.status = 200,
                     .content_type = "text/plain; version=0.0.4; charset=utf-8",
                     .body = context.metrics.text()};
}

}  // namespace hapax::admin
