// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// A captured request of arbitrary bytes: all parsed parts lie inside of the input, in order.
#include "base/check.hpp"
#include "cli/captured_request.hpp"

#include <cstdint>

namespace {

void check_inside(std::string_view text, std::string_view part) {
  HAPAX_CHECK(part.data() >= text.data());
  HAPAX_CHECK(part.data() + part.size() <= text.data() + text.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hapax;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<cli::CapturedRequest> captured = cli::parse_captured_request(text);
  if (!captured) {
    HAPAX_CHECK(captured.error().code() == Code::invalid_argument);
    return 0;
  }
  check_inside(text, captured->method);
  check_inside(text, captured->target);
  for (const Header& each : captured->headers) {
    check_inside(text, each.name);
    check_inside(text, each.value);
    HAPAX_CHECK(!each.name.empty() && each.name.find('\n') == each.name.npos);
    HAPAX_CHECK(each.value.find('\n') == each.value.npos);
  }
  check_inside(text, captured->body);
  return 0;
}
