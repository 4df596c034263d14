// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/error.hpp>
#include <hapax/verify.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace hapax::cli {

// A parsed raw HTTP request. The views are into the parsed text.
struct CapturedRequest {
  std::string_view method;
  std::string_view target;
  std::vector<Header> headers;
  std::string_view body;
  // A note for the user about an inconsistent capture; empty otherwise.
  std::string note;
};

// Parses a request line such as "POST /in/stripe HTTP/1.1", headers, an empty line and the body.
// Lines may end in CRLF or LF. The body is cut to Content-Length; if it is shorter, all of it is
// used. invalid_argument: not a request.
Result<CapturedRequest> parse_captured_request(std::string_view text);

// The value of a header; "" if it does not occur exactly once.
std::string_view header_of(const CapturedRequest& captured, std::string_view name);

// Reads all of standard input ("-") or of a file, at most 64 MiB.
Result<std::string> read_input(const std::string& path);

}  // namespace hapax::cli
