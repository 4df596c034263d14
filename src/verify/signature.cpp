// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "verify/signature.hpp"

#include "base/ascii.hpp"
#include "base/base64.hpp"
#include "base/calendar.hpp"
#include "base/hex.hpp"
#include "base/try.hpp"

#include <algorithm>
#include <charconv>

namespace hapax::verify_detail {

namespace {

using std::chrono::duration_cast;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

Failure malformed(std::string detail) {
  return {Reason::header_malformed, std::move(detail)};
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

MaybeFailure add_signature(const Place& place, std::string_view text, SignatureList& list) {
  if (!text.starts_with(place.prefix)) return std::nullopt;
  text.remove_prefix(place.prefix.size());
  if (text.empty() || (place.first_only && list.count > 0)) return std::nullopt;
  if (list.count == kMaxSignatures) {
    return malformed("more than " + std::to_string(kMaxSignatures) + " signatures in '" +
                     place.name + "'");
  }
  list.texts[list.count++] = text;
  return std::nullopt;
}

MaybeFailure set_time(const Place& place, std::string_view text, SignatureList& list) {
  // Verifiers disagree about which of two timestamps applies.
  if (list.time) return malformed("two timestamps in '" + place.name + "'");
  list.time = text;
  return std::nullopt;
}

MaybeFailure read_item(const Place& place, std::string_view item, bool first, SignatureList& list) {
  if (place.spaces) item = trimmed(item);
  if (place.time_first && first) return set_time(place, item, list);
  if (place.pair == 0) return add_signature(place, item, list);
  const std::size_t pair = item.find(place.pair);
  if (pair == std::string_view::npos) return std::nullopt;
  const std::string_view label = item.substr(0, pair);
  const std::string_view value = item.substr(pair + 1);
  if (!place.time_label.empty() && label == place.time_label) return set_time(place, value, list);
  if (label == place.label) return add_signature(place, value, list);
  return std::nullopt;
}

// Only digits, without sign or leading zeros. The text is signed, and a second text for the same
// number would be a second signature, which no sender produces.
std::optional<std::int64_t> read_integer(std::string_view text) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, failure] = std::from_chars(text.data(), end, number);
  const bool plain = !text.empty() && text.find_first_not_of("0123456789") == text.npos &&
                     (text.size() == 1 || text[0] != '0');
  if (!plain || failure != std::errc() || stopped != end) return std::nullopt;
  return number;
}

std::optional<WallTime> read_unix(std::string_view text, std::int64_t microseconds_each) {
  const std::optional<std::int64_t> number = read_integer(text);
  if (!number || *number > INT64_MAX / microseconds_each) return std::nullopt;
  return WallTime(microseconds(*number * microseconds_each));
}

std::string in_words(microseconds span) {
  return std::to_string(duration_cast<seconds>(span).count()) + " s";
}

}  // namespace

Result<Place> Place::make(const SignaturePlace& place, std::string_view key_id) {
  HAPAX_TRY_ASSIGN(field, parse_field(place.at));
  Place made{.from = field.from,
             .name = field.name,
             .numbered = false,
             .encoding = place.encoding,
             .prefix = std::string(place.prefix),
             .item = place.item,
             .pair = place.pair,
             .label = std::string(place.label == "{key_id}" ? key_id : place.label),
             .time_label = std::string(place.time_label),
             .set = place.set,
             .time_first = place.time_first,
             .spaces = place.spaces,
             .first_only = place.first_only,
             .secret = place.secret};
  if (made.name.ends_with('*')) {
    made.name.pop_back();
    made.numbered = true;
  }
  return made;
}

MaybeFailure read_list(const Place& place, std::string_view value, SignatureList& list) {
  if (place.item == 0) return add_signature(place, value, list);
  bool first = true;
  while (!value.empty()) {
    const std::size_t end = std::min(value.find(place.item), value.size());
    if (MaybeFailure failure = read_item(place, value.substr(0, end), first, list)) return failure;
    value.remove_prefix(std::min(end + 1, value.size()));
    first = false;
  }
  return std::nullopt;
}

std::optional<std::string_view> decode(std::string_view text, Encoding encoding,
                                       std::span<unsigned char> buffer) {
  std::optional<std::size_t> size;
  switch (encoding) {
    case Encoding::hex:
      size = decode_hex(text, buffer);
      break;
    case Encoding::base64:
      size = decode_base64(text, Base64::standard, buffer);
      break;
    case Encoding::base64url:
      size = decode_base64(text, Base64::url, buffer);
      break;
  }
  if (!size) return std::nullopt;
  return std::string_view(reinterpret_cast<const char*>(buffer.data()), *size);
}

std::string encode(std::string_view bytes, Encoding encoding) {
  switch (encoding) {
    case Encoding::hex:
      return to_hex(bytes);
    case Encoding::base64:
      return to_base64(bytes);
    case Encoding::base64url:
      return to_base64(bytes, Base64::url);
  }
  return {};
}

bool is_time_like(std::string_view text) {
  constexpr std::size_t kLongest = 64;
  const auto is_letter = [](char c) { return is_alphanumeric_or(":.+-", c); };
  return text.size() <= kLongest && std::all_of(text.begin(), text.end(), is_letter);
}

std::optional<WallTime> read_time(std::string_view text, TimeFormat format) {
  switch (format) {
    case TimeFormat::unix_seconds:
      return read_unix(text, 1'000'000);
    case TimeFormat::unix_milliseconds:
      return read_unix(text, 1'000);
    case TimeFormat::rfc3339:
      return parse_rfc3339(text);
    case TimeFormat::utc_without_zone:
      return parse_utc_without_zone(text);
    case TimeFormat::http_date:
      return parse_http_date(text);
    case TimeFormat::opaque:
      return std::nullopt;
  }
  return std::nullopt;
}

std::string write_time(WallTime time, TimeFormat format) {
  const microseconds since = time.time_since_epoch();
  switch (format) {
    case TimeFormat::unix_seconds:
    case TimeFormat::opaque:
      return std::to_string(duration_cast<seconds>(since).count());
    case TimeFormat::unix_milliseconds:
      return std::to_string(duration_cast<milliseconds>(since).count());
    case TimeFormat::rfc3339:
      return format_rfc3339(time);
    case TimeFormat::utc_without_zone: {
      std::string text = format_rfc3339(time);
      text.pop_back();
      return text;
    }
    case TimeFormat::http_date:
      return format_http_date(time);
  }
  return {};
}

MaybeFailure check_window(WallTime time, WallTime now, const TimePlace& place) {
  if (place.past != kNoLimit && time < now - place.past) {
    return Failure{Reason::timestamp_outside_window, "it was signed " + in_words(now - time) +
                                                         " ago, and " + in_words(place.past) +
                                                         " are allowed"};
  }
  if (place.future != kNoLimit && time > now + place.future) {
    return Failure{Reason::timestamp_outside_window, "it was signed " + in_words(time - now) +
                                                         " ahead of this machine's clock, and " +
                                                         in_words(place.future) + " are allowed"};
  }
  return std::nullopt;
}

}  // namespace hapax::verify_detail
