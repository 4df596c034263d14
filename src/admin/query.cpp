// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "admin/query.hpp"

#include "base/calendar.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace hapax::admin {

namespace {

// Names in errors are truncated: they come from the caller.
constexpr std::size_t kMaxShown = 64;

Error unusable(std::string_view name, const std::string& what) {
  return Error(Code::invalid_argument, std::string(name.substr(0, kMaxShown)) + ": " + what);
}

std::string listed(std::initializer_list<std::string_view> names) {
  std::string out;
  for (const std::string_view each : names) out += (out.empty() ? "" : ", ") + std::string(each);
  return out;
}

}  // namespace

Result<Query> Query::parse(std::string_view text, std::initializer_list<std::string_view> allowed) {
  std::optional<std::vector<FormField>> fields = parse_form(text);
  if (!fields) return Error(Code::invalid_argument, "too many parameters");
  for (auto each = fields->begin(); each != fields->end(); ++each) {
    const std::string& name = each->name;
    if (std::find(allowed.begin(), allowed.end(), name) == allowed.end()) {
      return unusable(name, allowed.size() == 0 ? "unknown parameter; none is accepted"
                                                : "unknown parameter; valid: " + listed(allowed));
    }
    const bool again = std::any_of(fields->begin(), each,
                                   [&](const FormField& before) { return before.name == name; });
    if (again) return unusable(name, "given more than once");
  }
  return Query(*std::move(fields));
}

std::optional<std::string_view> Query::text(std::string_view name) const {
  const auto found = std::find_if(fields_.begin(), fields_.end(),
                                  [&](const FormField& each) { return each.name == name; });
  return found == fields_.end() ? std::nullopt : std::optional<std::string_view>(found->value);
}

Result<std::optional<WallTime>> Query::time(std::string_view name) const {
  const std::optional<std::string_view> given = text(name);
  if (!given) return std::optional<WallTime>();
  const std::optional<WallTime> time = parse_rfc3339(*given);
  if (time) return time;
  return unusable(name, "must be an RFC 3339 time, such as 2026-01-31T08:00:00Z (a '+' as %2B)");
}

Result<std::optional<DeliveryState>> Query::state(std::string_view name) const {
  const std::optional<std::string_view> given = text(name);
  if (!given) return std::optional<DeliveryState>();
  if (const auto state = delivery_state(*given)) return state;
  return unusable(name, "must be one of pending, leased, completed, dead, superseded, cancelled");
}

Result<std::size_t> Query::count(std::string_view name, std::size_t least, std::size_t most,
                                 std::size_t otherwise) const {
  const std::optional<std::string_view> given = text(name);
  if (!given) return otherwise;
  std::size_t value = 0;
  const char* const end = given->data() + given->size();
  const auto [read, error] = std::from_chars(given->data(), end, value);
  const bool whole = error == std::errc() && read == end;
  if (whole && value >= least && value <= most) return value;
  return unusable(name,
                  "must be a number from " + std::to_string(least) + " to " + std::to_string(most));
}

}  // namespace hapax::admin
