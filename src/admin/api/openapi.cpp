// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "admin/api/reply.hpp"
#include "admin/api/resources.hpp"

namespace hapax::admin {

Result<http::Reply> show_openapi(const ApiContext&, const Call&) {
  return ok(std::string(openapi_document()));
}

}  // namespace hapax::admin
