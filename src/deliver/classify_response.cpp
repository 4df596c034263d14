// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "deliver/classify_response.hpp"

#include "base/calendar.hpp"
#include "env/chance.hpp"

#include <algorithm>
#include <charconv>

namespace hapax::deliver {

namespace {

using std::chrono::milliseconds;

constexpr int kGone = 410;
constexpr int kTooManyRequests = 429;

// Errors caused by the event itself do not count against the destination.
bool is_healthy(const AttemptResponse& answer) {
  for (const std::string_view each : {"refetch-value", "refetch-status", "bad-request"}) {
    if (answer.error == each) return true;
  }
  return answer.status != 0 && answer.status < 500 && answer.status != kTooManyRequests;
}

std::string error_of(const AttemptResponse& answer) {
  if (answer.status == 0) return answer.error;
  return answer.status >= 300 && answer.status <= 399 ? "redirect" : "status";
}

milliseconds until(WallTime then, WallTime now) {
  return std::chrono::ceil<milliseconds>(then - now);
}

// The delay of a Retry-After header; nullopt: not valid by RFC 9110.
std::optional<milliseconds> asked_to_wait(std::string_view text, WallTime now) {
  if (text.empty()) return std::nullopt;
  if (const auto date = parse_http_date(text)) {
    return std::clamp<milliseconds>(until(*date, now), milliseconds(0), kMaxRetryAfter);
  }
  const bool digits =
      std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!digits) return std::nullopt;
  std::int64_t seconds = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), seconds);
  constexpr std::int64_t kMost = std::chrono::seconds(kMaxRetryAfter).count();
  if (read.ec != std::errc()) seconds = kMost;  // overflow
  return std::chrono::seconds(std::min(seconds, kMost));
}

}  // namespace

bool is_success(int status) {
  return status >= 200 && status <= 299;
}

milliseconds with_jitter(milliseconds delay, Random& random) {
  const double more = static_cast<double>(delay.count()) * kJitter * chance(random);
  return delay + milliseconds(static_cast<std::int64_t>(more));
}

AttemptResult classify_response(const Destination& destination, unsigned attempt,
                                const AttemptResponse& answer, WallTime now, Random& random) {
  if (is_success(answer.status)) return {Ack{}, true, {}};
  AttemptResult result{Ack{}, is_healthy(answer), error_of(answer)};
  if (answer.status == kGone) {
    result.disposition = Dead{EndReason::gone, destination.on_dead};
  } else if (attempt > destination.retry.size()) {
    result.disposition = Dead{EndReason::exhausted, destination.on_dead};
  } else {
    const milliseconds scheduled = destination.retry[attempt - 1];
    const milliseconds asked = asked_to_wait(answer.retry_after, now).value_or(milliseconds(0));
    result.disposition = RetryIn{with_jitter(std::max(scheduled, asked), random), answer.sent};
  }
  return result;
}

}  // namespace hapax::deliver
