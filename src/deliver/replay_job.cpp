// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "deliver/replay_job.hpp"

#include <boost/json.hpp>

#include <charconv>

namespace hapax::deliver {

namespace {

namespace json = boost::json;

constexpr std::size_t kDigits = 16;

json::value text_of(const std::optional<std::string>& text) {
  return text ? json::value(json::string_view(text->data(), text->size())) : json::value(nullptr);
}

json::value us_of(const std::optional<WallTime>& time) {
  return time ? json::value(std::int64_t{time->time_since_epoch().count()}) : json::value(nullptr);
}

template <class No>
json::value number_of(const std::optional<No>& number) {
  return number ? json::value(number->value()) : json::value(nullptr);
}

json::value count_of(std::uint64_t count) {
  return static_cast<std::int64_t>(count);
}

// Reads members. After a missing member or one of another type, good() is false.
class Reader {
 public:
  explicit Reader(const json::object& object) : object_(object) {}

  bool good() const { return good_; }
  std::optional<std::int64_t> maybe_number(std::string_view name) {
    const json::value* const found = find(name);
    if (found == nullptr || found->is_null()) return std::nullopt;
    const std::int64_t* const number = found->if_int64();
    if (number == nullptr) good_ = false;
    return number != nullptr ? std::optional(*number) : std::nullopt;
  }
  std::int64_t number(std::string_view name) {
    const std::optional<std::int64_t> found = maybe_number(name);
    if (!found) good_ = false;
    return found.value_or(0);
  }
  std::uint64_t count(std::string_view name) { return static_cast<std::uint64_t>(number(name)); }
  std::optional<std::string> maybe_text(std::string_view name) {
    const json::value* const found = find(name);
    if (found == nullptr || found->is_null()) return std::nullopt;
    const json::string* const text = found->if_string();
    if (text == nullptr) good_ = false;
    return text != nullptr ? std::optional(std::string(text->data(), text->size())) : std::nullopt;
  }
  std::optional<WallTime> maybe_time(std::string_view name) {
    const std::optional<std::int64_t> us = maybe_number(name);
    return us ? std::optional(WallTime(std::chrono::microseconds(*us))) : std::nullopt;
  }
  // Empty if it is missing: older versions did not write it.
  std::string newer_text(std::string_view name) {
    return object_.contains(json::string_view(name)) ? maybe_text(name).value_or("") : "";
  }
  bool flag(std::string_view name) {
    const json::value* const found = find(name);
    if (found == nullptr || !found->is_bool()) good_ = false;
    return good_ && found->get_bool();
  }

 private:
  const json::value* find(std::string_view name) {
    const json::value* const found = object_.if_contains(json::string_view(name));
    if (found == nullptr) good_ = false;
    return found;
  }

  const json::object& object_;
  bool good_ = true;
};

void read_filter(Reader& in, ReplayJob& job) {
  if (const auto source = in.maybe_number("source")) job.source = SourceNo(*source);
  job.tenant = in.maybe_text("tenant");
  job.id = in.maybe_text("id");
  job.type = in.maybe_text("type");
  job.order_key = in.maybe_text("order_key");
  if (const auto status = in.maybe_number("status")) {
    job.status = static_cast<DeliveryState>(*status);
  }
  job.since = in.maybe_time("since");
  job.until = in.maybe_time("until");
}

void read_how(Reader& in, ReplayJob& job) {
  job.how.no = ReplayNo(in.number("no"));
  job.how.as = in.flag("as_new") ? store::ReplayAs::as_new : store::ReplayAs::same;
  if (const auto to = in.maybe_number("destination")) job.how.destination = DestinationNo(*to);
  job.how.accept_duplicate = in.flag("accept_duplicate");
  job.rate = static_cast<unsigned>(in.number("rate"));
  job.request = in.newer_text("request");
}

void read_progress(Reader& in, ReplayJob& job) {
  job.last = EventNo(in.number("last"));
  job.after = EventNo(in.number("after"));
  job.matched = in.count("matched");
  job.events = in.count("events");
  job.deliveries = in.count("deliveries");
  job.state = static_cast<ReplayJob::State>(in.number("state"));
  job.started = in.maybe_time("started").value_or(WallTime());
  job.ended = in.maybe_time("ended");
  job.owner = in.maybe_text("owner").value_or("");
  job.owned_until = in.maybe_time("owned_until").value_or(WallTime());
}

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
  const json::object object{
      {"no", job.how.no.value()},
      {"source", number_of(job.source)},
      {"tenant", text_of(job.tenant)},
      {"id", text_of(job.id)},
      {"type", text_of(job.type)},
      {"order_key", text_of(job.order_key)},
      {"status",
       job.status ? json::value(static_cast<std::int64_t>(*job.status)) : json::value(nullptr)},
      {"since", us_of(job.since)},
      {"until", us_of(job.until)},
      {"as_new", job.how.as == store::ReplayAs::as_new},
      {"destination", number_of(job.how.destination)},
      {"accept_duplicate", job.how.accept_duplicate},
      {"rate", std::int64_t{job.rate}},
      {"request", json::string_view(job.request)},
      {"last", job.last.value()},
      {"after", job.after.value()},
      {"matched", count_of(job.matched)},
      {"events", count_of(job.events)},
      {"deliveries", count_of(job.deliveries)},
      {"state", static_cast<std::int64_t>(job.state)},
      {"started", us_of(job.started)},
      {"ended", us_of(job.ended)},
      {"owner", json::string_view(job.owner)},
      {"owned_until", us_of(job.owned_until)}};
  return json::serialize(object);
}

std::optional<ReplayJob> job_from(std::string_view text) {
  json::error_code error;
  const json::value value = json::parse(json::string_view(text.data(), text.size()), error);
  if (error || !value.is_object()) return std::nullopt;
  Reader in(value.get_object());
  ReplayJob job;
  read_filter(in, job);
  read_how(in, job);
  read_progress(in, job);
  return in.good() && is_sane(job) ? std::optional(std::move(job)) : std::nullopt;
}

}  // namespace hapax::deliver
