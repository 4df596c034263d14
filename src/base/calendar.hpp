// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace hapax {

// Strict RFC 3339 ("2025-10-09T08:53:20.808Z", "...+02:00"). Fractions may have any length; digits
// beyond microseconds are dropped. Returns nullopt for anything else and for dates that do not
// exist. A leap second (23:59:60 UTC on the last day of June or December) is read as the following
// second.
std::optional<WallTime> parse_rfc3339(std::string_view text);

// The same without a zone, taken as UTC: "2025-10-09T08:53:20.808". With a zone: nullopt.
std::optional<WallTime> parse_utc_without_zone(std::string_view text);

// "Thu, 09 Oct 2025 08:53:20 GMT" (IMF-fixdate of RFC 9110); the weekday must match the date.
std::optional<WallTime> parse_http_date(std::string_view text);

// "2025-10-09T08:53:20.808000Z" and "Thu, 09 Oct 2025 08:53:20 GMT". Times outside the years 0000
// to 9999 are clamped.
std::string format_rfc3339(WallTime time);
std::string format_http_date(WallTime time);

}  // namespace hapax
