// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/calendar.hpp"

#include "base/ascii.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>

namespace hapax {

namespace {

using namespace std::chrono;

constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::array<std::string_view, 7> kWeekdays{"Sun", "Mon", "Tue", "Wed",
                                                    "Thu", "Fri", "Sat"};

// Parses a text from its front. After the first mismatch ok() is false and returned values are
// meaningless.
class Scan {
 public:
  explicit Scan(std::string_view text) : rest_(text) {}

  bool ok() const { return ok_; }
  bool at_end() const { return rest_.empty(); }

  bool skip_if(char letter) {
    if (!ok_ || rest_.empty() || rest_.front() != letter) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void skip(std::string_view wanted) {
    ok_ = ok_ && rest_.substr(0, wanted.size()) == wanted;
    if (ok_) rest_.remove_prefix(wanted.size());
  }

  // Exactly `count` digits.
  int digits(std::size_t count) {
    ok_ =
        ok_ && rest_.size() >= count && std::all_of(rest_.begin(), rest_.begin() + count, is_digit);
    int value = 0;
    for (std::size_t i = 0; ok_ && i < count; ++i) value = value * 10 + (rest_[i] - '0');
    if (ok_) rest_.remove_prefix(count);
    return value;
  }

  // Index of the next three letters in `names`.
  template <std::size_t count>
  int one_of(const std::array<std::string_view, count>& names) {
    const auto found = std::find(names.begin(), names.end(), rest_.substr(0, 3));
    ok_ = ok_ && found != names.end();
    if (ok_) rest_.remove_prefix(3);
    return static_cast<int>(found - names.begin());
  }

  // One or more digits of a fraction of a second; digits beyond microseconds are dropped.
  microseconds fraction() {
    std::int64_t value = 0;
    std::size_t count = 0;
    for (; count < rest_.size() && is_digit(rest_[count]); ++count) {
      if (count < 6) value = value * 10 + (rest_[count] - '0');
    }
    ok_ = ok_ && count > 0;
    for (std::size_t place = count; place < 6; ++place) value *= 10;
    rest_.remove_prefix(count);
    return microseconds(value);
  }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

struct Civil {
  int year = 0;
  int month = 0;
  int day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  microseconds fraction{0};
  minutes offset{0};  // east of UTC
};

// Whether a leap second may follow this minute: RFC 3339 allows 23:59:60 UTC, and leap seconds have
// only been inserted at the end of June and December.
bool ends_with_leap_second(WallTime minute) {
  const WallTime next = minute + minutes(1);
  const sys_days day = floor<std::chrono::days>(next);
  const year_month_day date(day);
  return next == day && date.day() == std::chrono::day(1) &&
         (date.month() == January || date.month() == July);
}

// A leap second maps to the following second, as in POSIX time.
std::optional<WallTime> to_time(const Civil& civil) {
  const year_month_day date{year(civil.year), month(static_cast<unsigned>(civil.month)),
                            day(static_cast<unsigned>(civil.day))};
  if (!date.ok() || civil.hour > 23 || civil.minute > 59 || civil.second > 60) return std::nullopt;
  const WallTime minute = sys_days(date) + hours(civil.hour) + minutes(civil.minute) - civil.offset;
  if (civil.second == 60 && !ends_with_leap_second(minute)) return std::nullopt;
  return minute + seconds(civil.second) + civil.fraction;
}

void scan_clock(Scan& scan, Civil& civil) {
  civil.hour = scan.digits(2);
  scan.skip(":");
  civil.minute = scan.digits(2);
  scan.skip(":");
  civil.second = scan.digits(2);
}

// "2025-10-09T08:53:20.808"; RFC 3339 allows a lower-case t.
void scan_date_time(Scan& scan, Civil& civil) {
  civil.year = scan.digits(4);
  scan.skip("-");
  civil.month = scan.digits(2);
  scan.skip("-");
  civil.day = scan.digits(2);
  if (!scan.skip_if('t')) scan.skip("T");
  scan_clock(scan, civil);
  if (scan.skip_if('.')) civil.fraction = scan.fraction();
}

// "Z" or "+02:00". Returns false if the hour or minute is out of range.
bool scan_zone(Scan& scan, Civil& civil) {
  if (scan.skip_if('Z') || scan.skip_if('z')) return true;
  const bool west = scan.skip_if('-');
  if (!west) scan.skip("+");
  const int hour = scan.digits(2);
  scan.skip(":");
  const int minute = scan.digits(2);
  civil.offset = (hours(hour) + minutes(minute)) * (west ? -1 : 1);
  return hour <= 23 && minute <= 59;
}

// The range of four-digit years; std::chrono::year holds only -32767 to 32767.
constexpr WallTime kFirst = sys_days(year(0) / January / 1);
constexpr WallTime kLast = sys_days(year(10000) / January / 1) - microseconds(1);

struct Broken {
  year_month_day date;
  weekday day_of_week;
  hh_mm_ss<microseconds> clock;
};

Broken take_apart(WallTime time) {
  time = std::clamp(time, kFirst, kLast);
  const sys_days day = floor<std::chrono::days>(time);
  return {year_month_day(day), weekday(day), hh_mm_ss<microseconds>(time - day)};
}

int number(month value) {
  return static_cast<int>(static_cast<unsigned>(value));
}

int number(day value) {
  return static_cast<int>(static_cast<unsigned>(value));
}

}  // namespace

std::optional<WallTime> parse_rfc3339(std::string_view text) {
  Scan scan(text);
  Civil civil;
  scan_date_time(scan, civil);
  const bool zone = scan_zone(scan, civil);
  if (!zone || !scan.ok() || !scan.at_end()) return std::nullopt;
  return to_time(civil);
}

std::optional<WallTime> parse_utc_without_zone(std::string_view text) {
  Scan scan(text);
  Civil civil;
  scan_date_time(scan, civil);
  if (!scan.ok() || !scan.at_end()) return std::nullopt;
  return to_time(civil);
}

std::optional<WallTime> parse_http_date(std::string_view text) {
  Scan scan(text);
  Civil civil;
  const int day_of_week = scan.one_of(kWeekdays);
  scan.skip(", ");
  civil.day = scan.digits(2);
  scan.skip(" ");
  civil.month = scan.one_of(kMonths) + 1;
  scan.skip(" ");
  civil.year = scan.digits(4);
  scan.skip(" ");
  scan_clock(scan, civil);
  scan.skip(" GMT");
  if (!scan.ok() || !scan.at_end()) return std::nullopt;
  const std::optional<WallTime> time = to_time(civil);
  if (!time) return std::nullopt;
  const sys_days date = year(civil.year) / civil.month / civil.day;
  if (weekday(date).c_encoding() != static_cast<unsigned>(day_of_week)) return std::nullopt;
  return time;
}

std::string format_rfc3339(WallTime time) {
  const Broken at = take_apart(time);
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02d-%02dT%02d:%02d:%02d.%06dZ",
                static_cast<int>(at.date.year()), number(at.date.month()), number(at.date.day()),
                static_cast<int>(at.clock.hours().count()),
                static_cast<int>(at.clock.minutes().count()),
                static_cast<int>(at.clock.seconds().count()),
                static_cast<int>(at.clock.subseconds().count()));
  return text.data();
}

std::string format_http_date(WallTime time) {
  const Broken at = take_apart(time);
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%s, %02d %s %04d %02d:%02d:%02d GMT",
                kWeekdays[at.day_of_week.c_encoding()].data(), number(at.date.day()),
                kMonths[static_cast<unsigned>(at.date.month()) - 1].data(),
                static_cast<int>(at.date.year()), static_cast<int>(at.clock.hours().count()),
                static_cast<int>(at.clock.minutes().count()),
                static_cast<int>(at.clock.seconds().count()));
  return text.data();
}

}  // namespace hapax
