// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "deliver/replay_job.hpp"

#include "deliver/record_json.hpp"

#include <charconv>

namespace hapax::deliver {

template <class Each>
void for_each_member(ReplayJob& job, const Each& each) {
  each("no", job.how.no);
  each("source", job.source);
  each("tenant", job.tenant);
  each("id", job.id);
  each("type", job.type);
  each("order_key", job.order_key);
  each("status", job.status);
  each("since", job.since);
  each("until", job.until);
  bool as_new = job.how.as == store::ReplayAs::as_new;
  each("as_new", as_new);
  job.how.as = as_new ? store::ReplayAs::as_new : store::ReplayAs::same;
  each("destination", job.how.destination);
  each("accept_duplicate", job.how.accept_duplicate);
  each("rate", job.rate);
  each("request", job.request, kMayBeMissing);
  each("last", job.last);
  each("after", job.after);
  each("matched", job.matched);
  each("events", job.events);
  each("deliveries", job.deliveries);
  each("state", job.state);
  each("started", job.started);
  each("ended", job.ended);
  each("owner", job.owner);
  each("owned_until", job.owned_until);
}

namespace {

constexpr std::size_t kDigits = 16;

bool is_sane(const ReplayJob& job) {
  const bool known_status = !job.status || *job.status <= DeliveryState::cancelled;
  return known_status && job.how.no.value() > 0 && job.rate >= 1 && job.rate <= kMaxReplayRate &&
         job.state <= ReplayJob::State::cancelled;
}

}  // namespace

store::EventFilter filter_of(const ReplayJob& job) {
  return {.source = job.source,
          .tenant = job.tenant,
          .id = job.id,
          .type = job.type,
          .order_key = job.order_key,
          .status = job.status,
          .since = job.since,
          .until = job.until};
}

std::string_view name(ReplayJob::State state) noexcept {
  switch (state) {
    case ReplayJob::State::running:
      return "running";
    case ReplayJob::State::done:
      return "done";
    case ReplayJob::State::cancelled:
      return "cancelled";
  }
  return "";
}

std::string replay_text(ReplayNo number) {
  std::string text(1 + kDigits, '0');
  text.front() = 'p';
  auto value = static_cast<std::uint64_t>(number.value());
  for (std::size_t i = kDigits; i > 0; --i, value >>= 4) text[i] = "0123456789abcdef"[value & 15U];
  return text;
}

std::optional<ReplayNo> replay_from(std::string_view text) {
  if (text.size() != 1 + kDigits || text.front() != 'p') return std::nullopt;
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data() + 1, end, value, 16);
  const ReplayNo number(static_cast<std::int64_t>(value));
  const bool same = read.ec == std::errc() && read.ptr == end && replay_text(number) == text;
  return same && number.value() > 0 ? std::optional(number) : std::nullopt;
}

std::string to_record_text(const ReplayJob& job) {
  return record_text(job);
}

std::optional<ReplayJob> job_from(std::string_view text) {
  std::optional<ReplayJob> job = record_from<ReplayJob>(text);
  return job && is_sane(*job) ? std::move(job) : std::nullopt;
}

}  // namespace hapax::deliver
