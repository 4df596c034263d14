// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/calendar.hpp"

#include "support/world.hpp"

#include <gtest/gtest.h>

namespace hapax {
namespace {

using std::chrono::microseconds;

std::int64_t us(std::string_view text) {
  const std::optional<WallTime> time = parse_rfc3339(text);
  EXPECT_TRUE(time) << text;
  return time ? time->time_since_epoch().count() : -1;
}

TEST(Rfc3339, ReturnsMicrosecondsSince1970) {
  EXPECT_EQ(us("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(us("2025-10-09T08:53:20Z"), 1'760'000'000'000'000);
  EXPECT_EQ(us("2025-10-09T08:53:20.808Z"), 1'760'000'000'808'000);
  EXPECT_EQ(us("1969-12-31T23:59:59.999999Z"), -1);
  EXPECT_EQ(us("0000-01-01T00:00:00Z"), -62'167'219'200'000'000);
  EXPECT_EQ(us("9999-12-31T23:59:59.999999Z"), 253'402'300'799'999'999);
}

TEST(Rfc3339, AnOffsetIsSubtracted) {
  EXPECT_EQ(us("2025-10-09T10:53:20+02:00"), us("2025-10-09T08:53:20Z"));
  EXPECT_EQ(us("2025-10-09T03:23:20-05:30"), us("2025-10-09T08:53:20Z"));
  EXPECT_EQ(us("2025-01-01T00:30:00+23:59"), us("2024-12-31T00:31:00Z"));
  EXPECT_EQ(us("2025-10-09T08:53:20-00:00"), us("2025-10-09T08:53:20Z"));
  EXPECT_EQ(us("0000-01-01T00:00:00+01:00"), us("0000-01-01T00:00:00Z") - 3'600'000'000);
}

TEST(Rfc3339, DigitsBeyondMicrosecondsAreDropped) {
  EXPECT_EQ(us("1970-01-01T00:00:00.1Z"), 100'000);
  EXPECT_EQ(us("1970-01-01T00:00:00.000001Z"), 1);
  EXPECT_EQ(us("1970-01-01T00:00:00.0000019Z"), 1);
  EXPECT_EQ(us("1970-01-01T00:00:00." + std::string(1000, '9') + "Z"), 999'999);
}

TEST(Rfc3339, LettersMayBeLowerCase) {
  EXPECT_EQ(us("2025-10-09t08:53:20z"), us("2025-10-09T08:53:20Z"));
}

TEST(Rfc3339, LeapDaysExistOnlyInLeapYears) {
  EXPECT_TRUE(parse_rfc3339("2024-02-29T00:00:00Z"));
  EXPECT_TRUE(parse_rfc3339("2000-02-29T00:00:00Z"));
  EXPECT_TRUE(parse_rfc3339("0000-02-29T00:00:00Z"));
  EXPECT_FALSE(parse_rfc3339("2023-02-29T00:00:00Z"));
  EXPECT_FALSE(parse_rfc3339("1900-02-29T00:00:00Z"));
  EXPECT_FALSE(parse_rfc3339("2024-02-30T00:00:00Z"));
}

// The two examples of RFC 3339, section 5.8, and times at which no leap second can occur.
TEST(Rfc3339, ALeapSecondIsReadAsTheNextSecond) {
  EXPECT_EQ(us("1990-12-31T23:59:60Z"), us("1991-01-01T00:00:00Z"));
  EXPECT_EQ(us("1990-12-31T15:59:60-08:00"), us("1991-01-01T00:00:00Z"));
  EXPECT_EQ(us("2015-06-30T23:59:60.25Z"), us("2015-07-01T00:00:00.25Z"));
  for (const char* text : {"1990-12-31T23:59:61Z", "1990-12-31T22:59:60Z", "1990-12-30T23:59:60Z",
                           "1990-12-31T23:59:60+01:00", "2015-03-31T23:59:60Z"}) {
    EXPECT_FALSE(parse_rfc3339(text)) << text;
  }
}

TEST(Rfc3339, RejectsEverythingElse) {
  for (const std::string_view text : {"",
                                      "Z",
                                      "2025",
                                      "2025-10-09",
                                      "2025-10-09T08:53:20",
                                      "2025-10-09 08:53:20Z",
                                      "2025-10-09T08:53Z",
                                      "2025-10-09T08:53:20.Z",
                                      "2025-10-09T08:53:20,5Z",
                                      "2025-10-09T08:53:20+0200",
                                      "2025-10-09T08:53:20+02",
                                      "2025-10-09T08:53:20+24:00",
                                      "2025-10-09T08:53:20+02:60",
                                      "2025-10-09T08:53:20+2:00",
                                      "2025-10-09T24:00:00Z",
                                      "2025-10-09T08:60:00Z",
                                      "2025-13-09T08:53:20Z",
                                      "2025-00-09T08:53:20Z",
                                      "2025-10-00T08:53:20Z",
                                      "2025-10-32T08:53:20Z",
                                      "2025-11-31T08:53:20Z",
                                      "-025-10-09T08:53:20Z",
                                      "-2025-10-09T08:53:20Z",
                                      "+2025-10-09T08:53:20Z",
                                      "20250-10-09T08:53:20Z",
                                      "2025-1-09T08:53:20Z",
                                      " 2025-10-09T08:53:20Z",
                                      "2025-10-09T08:53:20Z ",
                                      "2025-10-09T08:53:20ZZ",
                                      "2025-10-09T08:53:20Z\n",
                                      "2025-10-09T-8:53:20Z",
                                      "2025-10-09T08:53:+0Z",
                                      "99999999999999999999",
                                      "\xd9\xa2\xd9\xa0-10-09T08:53:20Z"}) {
    EXPECT_FALSE(parse_rfc3339(text)) << text;
  }
  EXPECT_FALSE(parse_rfc3339(std::string_view("2025-10-09T08:53:20Z\0", 21)));
}

TEST(UtcWithoutZone, EqualsTheSameTimeInUtc) {
  EXPECT_EQ(parse_utc_without_zone("2025-10-09T08:53:20.808"),
            parse_rfc3339("2025-10-09T08:53:20.808Z"));
  EXPECT_EQ(parse_utc_without_zone("2016-12-31T23:59:60"), parse_rfc3339("2017-01-01T00:00:00Z"));
  for (const char* text : {"", "2025-10-09T08:53:20Z", "2025-10-09T08:53:20+00:00", "2025-10-09",
                           "2025-10-09T08:53:20.", "2025-02-29T00:00:00"}) {
    EXPECT_FALSE(parse_utc_without_zone(text)) << text;
  }
}

TEST(HttpDate, ReadsAnImfFixdate) {
  EXPECT_EQ(parse_http_date("Thu, 09 Oct 2025 08:53:20 GMT"),
            parse_rfc3339("2025-10-09T08:53:20Z"));
  EXPECT_EQ(parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT"),
            parse_rfc3339("1994-11-06T08:49:37Z"));
  EXPECT_EQ(parse_http_date("Sat, 31 Dec 2016 23:59:60 GMT"),
            parse_rfc3339("2017-01-01T00:00:00Z"));
}

TEST(HttpDate, RejectsWrongWeekdaysAndOtherForms) {
  for (const char* text : {"", "Fri, 09 Oct 2025 08:53:20 GMT", "Thu, 9 Oct 2025 08:53:20 GMT",
                           "thu, 09 Oct 2025 08:53:20 GMT", "Thu, 09 oct 2025 08:53:20 GMT",
                           "Thu, 09 Oct 2025 08:53:20 UTC", "Thu, 09 Oct 2025 08:53:20 gmt",
                           "Thu, 09 Oct 2025 08:53:20", "Thu 09 Oct 2025 08:53:20 GMT",
                           "Thursday, 09-Oct-25 08:53:20 GMT", "Thu Oct  9 08:53:20 2025",
                           "Thu, 09 Oct 25 08:53:20 GMT", "Thu, 32 Oct 2025 08:53:20 GMT",
                           "Thu, 09 Oct 2025 24:00:00 GMT", "Thu, 09 Oct 2025 08:53:20.5 GMT",
                           "Thu, 09 Oct 2025 08:53:20 GMT ", "Wed, 29 Feb 2023 00:00:00 GMT"}) {
    EXPECT_FALSE(parse_http_date(text)) << text;
  }
}

TEST(Format, WritesRfc3339AndHttpDates) {
  const WallTime time = *parse_rfc3339("2025-10-09T08:53:20.808Z");
  EXPECT_EQ(format_rfc3339(time), "2025-10-09T08:53:20.808000Z");
  EXPECT_EQ(format_http_date(time), "Thu, 09 Oct 2025 08:53:20 GMT");
  EXPECT_EQ(format_rfc3339(WallTime(microseconds(-1))), "1969-12-31T23:59:59.999999Z");
  EXPECT_EQ(format_http_date(WallTime(microseconds(-1))), "Wed, 31 Dec 1969 23:59:59 GMT");
}

TEST(Format, EveryTimeWithAFourDigitYearRoundTrips) {
  test::SeededRandom random(20);
  const std::int64_t first = us("0000-01-01T00:00:00Z");
  const auto span = static_cast<std::uint64_t>(us("9999-12-31T23:59:59.999999Z") - first);
  for (int i = 0; i < 20'000; ++i) {
    const WallTime time(microseconds(first + static_cast<std::int64_t>(random.below(span))));
    ASSERT_EQ(parse_rfc3339(format_rfc3339(time)), time);
    ASSERT_EQ(parse_http_date(format_http_date(time)),
              std::chrono::floor<std::chrono::seconds>(time));
  }
}

TEST(Format, TimesOutsideOfFourDigitYearsAreClamped) {
  EXPECT_EQ(format_rfc3339(WallTime::max()), "9999-12-31T23:59:59.999999Z");
  EXPECT_EQ(format_http_date(WallTime::max()), "Fri, 31 Dec 9999 23:59:59 GMT");
  EXPECT_EQ(format_rfc3339(WallTime::min()), "0000-01-01T00:00:00.000000Z");
  EXPECT_EQ(format_http_date(WallTime::min()), "Sat, 01 Jan 0000 00:00:00 GMT");
}

}  // namespace
}  // namespace hapax
