// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace hapax {

// RFC 3339 ("2025-10-09T08:53:20.808Z", "...+02:00"), strictly, fractions of any length (digits
// after the microsecond are dropped). Nothing for anything else, and for dates that do not exist. A
// 60th second is read at 23:59:60 UTC on the last day of June or December, as the second after it.
std::optional<WallTime> parse_rfc3339(std::string_view text);

// The same without a zone, taken as UTC: "2025-10-09T08:53:20.808". With a zone: nothing.
std::optional<WallTime> parse_utc_without_zone(std::string_view text);

// "Thu, 09 Oct 2025 08:53:20 GMT" (IMF-fixdate of RFC 9110; the weekday must be the right one).
std::optional<WallTime> parse_http_date(std::string_view text);

// "2025-10-09T08:53:20.808000Z", and "Thu, 09 Oct 2025 08:53:20 GMT". A time outside of the years
// 0000 to 9999 is written as the nearest of them.
std::string format_rfc3339(WallTime time);
std::string format_http_date(WallTime time);

}  // namespace hapax
