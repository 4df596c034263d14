// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <boost/json.hpp>

#include <string>
#include <vector>

// A checker for the subset of JSON Schema and OpenAPI that src/admin/openapi.json uses.
namespace hapax::test {

// Returns one sentence per violation of `schema` by `value`, and one per schema keyword that the
// checker does not support, so that no rule is skipped silently.
std::vector<std::string> violations(const boost::json::value& document,
                                    const boost::json::value& schema,
                                    const boost::json::value& value);

// Returns the ways in which a response deviates from the operation's description in the document.
std::vector<std::string> undocumented(const boost::json::value& document, const std::string& method,
                                      const std::string& pattern, int status,
                                      const std::string& content_type, const std::string& body);

}  // namespace hapax::test
