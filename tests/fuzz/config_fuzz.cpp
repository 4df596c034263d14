// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// A configuration of arbitrary bytes: it loads, or every problem is one line with a position and a
// text, and reveals no secret.
#include "base/check.hpp"
#include "daemon/config_text.hpp"

#include <algorithm>
#include <cstdint>

namespace {

using hapax::daemon::Problem;

constexpr std::string_view kSecret = "s3cret-of-the-fuzzer";

std::optional<std::string> variable(const std::string& name) {
  if (name == "SET") return std::string(kSecret);
  return std::nullopt;
}

void check_message(const Problem& problem, std::string_view text) {
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  const std::string shown = problem.to_string();
  HAPAX_CHECK(!problem.text.empty());
  HAPAX_CHECK(problem.line <= lines);
  // The fuzzer may have written the secret itself, outside of a variable.
  const bool hidden = text.find(kSecret) == std::string_view::npos;
  HAPAX_CHECK(!hidden || shown.find(kSecret) == std::string::npos);
  HAPAX_CHECK(std::none_of(shown.begin(), shown.end(),
                           [](char c) { return c == '\n' || c == '\0' || c == '\x1b'; }));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hapax;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const daemon::Loaded loaded =
      daemon::load_config_text(text, "/nonexistent/hapax.toml", 0644, variable);
  HAPAX_CHECK(loaded.config.has_value() == loaded.problems.empty());
  for (const Problem& each : loaded.problems) check_message(each, text);
  for (const Problem& each : loaded.warnings) check_message(each, text);
  HAPAX_CHECK(std::is_sorted(loaded.problems.begin(), loaded.problems.end(),
                             [](const Problem& a, const Problem& b) { return a.line < b.line; }));
  if (!loaded.config) return 0;
  for (const gateway::Source& source : loaded.config->sources) {
    HAPAX_CHECK(!source.name.empty() && source.max_body > 0);
    HAPAX_CHECK(source.keep <= source.remember);
  }
  return 0;
}
