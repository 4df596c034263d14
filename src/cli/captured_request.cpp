// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "cli/captured_request.hpp"

#include "model/field.hpp"

#include <charconv>
#include <fstream>
#include <iostream>

namespace hapax::cli {

namespace {

constexpr std::size_t kMaxInput = 64UL << 20;

Error not_a_request(std::string_view why) {
  return Error(Code::invalid_argument,
               "the input is not a captured HTTP request: " + std::string(why) +
                   ". It starts with a line such as 'POST /in/stripe HTTP/1.1', followed by "
                   "headers, an empty line and the body");
}

std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
  return text;
}

void cut_to_length(CapturedRequest& captured) {
  const std::string_view text = header_of(captured, "content-length");
  std::size_t length = 0;
  const auto [stopped, failure] = std::from_chars(text.data(), text.data() + text.size(), length);
  if (text.empty() || failure != std::errc() || stopped != text.data() + text.size()) return;
  if (length == captured.body.size()) return;
  captured.note = "Content-Length says " + std::to_string(length) + " bytes, and " +
                  std::to_string(captured.body.size()) + " follow the headers";
  if (length < captured.body.size()) {
    captured.body = captured.body.substr(0, length);
    captured.note += "; only the first are used";
  }
}

}  // namespace

Result<CapturedRequest> parse_captured_request(std::string_view text) {
  CapturedRequest captured;
  const std::string_view line = take_line(text);
  const std::size_t method_end = line.find(' ');
  const std::size_t target_end = line.rfind(' ');
  if (method_end == line.npos || method_end == 0 || target_end <= method_end ||
      !line.substr(target_end + 1).starts_with("HTTP/")) {
    return not_a_request("the first line is not a request line");
  }
  captured.method = line.substr(0, method_end);
  captured.target = line.substr(method_end + 1, target_end - method_end - 1);
  while (!text.empty()) {
    const std::string_view header = take_line(text);
    if (header.empty()) break;
    const std::size_t colon = header.find(':');
    if (colon == header.npos || colon == 0) return not_a_request("a header has no colon");
    captured.headers.push_back({header.substr(0, colon), trimmed(header.substr(colon + 1))});
  }
  captured.body = text;
  cut_to_length(captured);
  if (!header_of(captured, "transfer-encoding").empty()) {
    captured.note =
        "the request is chunked (Transfer-Encoding); the chunk sizes are treated as part of the "
        "body, but the signature covers the decoded body";
  }
  return captured;
}

std::string_view header_of(const CapturedRequest& captured, std::string_view name) {
  const Request request{.headers = captured.headers};
  return find_header(request, name).text;
}

Result<std::string> read_input(const std::string& path) {
  std::ifstream file;
  if (path != "-") {
    file.open(path, std::ios::binary);
    if (!file) return Error(Code::misconfigured, "cannot read the file '" + path + "'");
  }
  std::istream& in = path == "-" ? std::cin : file;
  std::string text;
  char chunk[65536];
  while (in.read(chunk, sizeof chunk) || in.gcount() > 0) {
    text.append(chunk, static_cast<std::size_t>(in.gcount()));
    if (text.size() > kMaxInput) {
      return Error(Code::invalid_argument, "the input is larger than 64 MiB");
    }
  }
  return text;
}

}  // namespace hapax::cli
