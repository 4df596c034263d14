// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <boost/json.hpp>

#include <string>
#include <vector>

// The part of JSON Schema and OpenAPI that src/admin/openapi.json uses.
namespace hapax::test {

// What of `value` is not as `schema` says, a sentence each; also every word of the schema that is
// not understood, so that nothing is passed over.
std::vector<std::string> violations(const boost::json::value& document,
                                    const boost::json::value& schema,
                                    const boost::json::value& value);

// What is wrong with an answer of an operation, by the document.
std::vector<std::string> undocumented(const boost::json::value& document, const std::string& method,
                                      const std::string& pattern, int status,
                                      const std::string& content_type, const std::string& body);

}  // namespace hapax::test
