// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// Durations, times, and claim keys of arbitrary bytes.
#include "base/calendar.hpp"
#include "base/check.hpp"
#include "base/claim_key.hpp"
#include "base/duration.hpp"

#include <cstdint>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hapax;
  const std::string_view input(reinterpret_cast<const char*>(data), size);

  const Result<std::chrono::milliseconds> duration = parse_duration(input);
  if (duration) {
    HAPAX_CHECK(duration->count() >= 0);
    HAPAX_CHECK(parse_duration(std::to_string(duration->count()) + "ms").value() == *duration);
  }

  const std::optional<WallTime> time = parse_rfc3339(input);
  // A zone offset can move a time into a year that cannot be formatted.
  if (time && input.substr(0, 4) != "0000" && input.substr(0, 4) != "9999") {
    HAPAX_CHECK(parse_rfc3339(format_rfc3339(*time)) == time);
  }
  const std::optional<WallTime> date = parse_http_date(input);
  HAPAX_CHECK(!date || input.substr(17, 8) == "23:59:60" || format_http_date(*date) == input);

  if (size >= 1) {
    const std::size_t cut = data[0] % size;
    const std::string_view group = input.substr(0, cut);
    const std::string_view id = input.substr(cut);
    const std::string key = claim_key(ClaimKind::id, group, id);
    HAPAX_CHECK(key.size() <= kMaxPlainKey);
    HAPAX_CHECK(key == claim_key(ClaimKind::id, group, id));
    HAPAX_CHECK(cut == 0 ||
                key != claim_key(ClaimKind::id, group.substr(1), input.substr(cut - 1)));
  }
  return 0;
}
