// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/request.hpp>
#include <hapax/result.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace hapax::cli {

// A raw HTTP request, read. The views are into the text it was read from.
struct CapturedRequest {
  std::string_view method;
  std::string_view target;
  std::vector<Header> headers;
  std::string_view body;
  // A note about the capture for the user; empty when nothing is odd.
  std::string note;
};

// "POST /in/stripe HTTP/1.1", headers, an empty line, the body. Lines may end in CRLF or LF. The
// body is what Content-Length says where there is as much, else all that follows.
// invalid_argument: it is not a request.
Result<CapturedRequest> parse_captured_request(std::string_view text);

// The value of a header, "" when it is not there once.
std::string_view header_of(const CapturedRequest& captured, std::string_view name);

// All of standard input, or of a file; "-" is standard input. At most 64 MiB.
Result<std::string> read_input(const std::string& path);

}  // namespace hapax::cli
