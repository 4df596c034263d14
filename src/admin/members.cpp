// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "admin/members.hpp"

#include "base/calendar.hpp"
#include "base/try.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace hapax::admin {

namespace {

namespace json = boost::json;

constexpr std::size_t kMaxShownName = 64;

std::string string_of(const json::string& text) {
  return {text.data(), text.size()};
}

}  // namespace

Members::Members(std::string_view write, bool strict)
    : object_(std::make_shared<const json::object>()), write_(write), strict_(strict) {}

Error Members::complaint(const std::string& what) const {
  return Error(Code::invalid_argument, what + "; " + std::string(write_));
}

Error Members::bad(std::string_view what) const {
  return complaint(where_ + std::string(what));
}

Result<Members> Members::read(std::string_view body, std::string_view write, Names known) {
  const Members none(write, false);
  if (body.empty()) return none;
  return none.parse(body, known);
}

Result<Members> Members::read_strictly(std::string_view body, std::string_view write, Names known) {
  return Members(write, true).parse(body, known);
}

Result<Members> Members::parse(std::string_view body, Names known) const {
  json::error_code error;
  const auto value = std::make_shared<const json::value>(
      json::parse(json::string_view(body.data(), body.size()), error));
  if (error) return complaint("the body is not JSON: " + error.message());
  return within(value, "the body", "", known);
}

Result<Members> Members::within(const Value& value, std::string_view what, std::string where,
                                Names known) const {
  if (!value->is_object()) return bad(std::string(what) + " must be a JSON object");
  Members members(*this);
  members.object_ = {value, &value->get_object()};
  members.where_ = std::move(where);
  HAPAX_TRY(members.check(known));
  return members;
}

Result<void> Members::check(Names known) const {
  for (const auto& member : *object_) {
    const std::string_view name(member.key().data(), member.key().size());
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    return complaint("unknown member '" + where_ + std::string(name.substr(0, kMaxShownName)) +
                     "'");
  }
  return {};
}

Result<void> Members::no_nulls(Names except) const {
  for (const auto& member : *object_) {
    const std::string_view name(member.key().data(), member.key().size());
    const bool may = std::find(except.begin(), except.end(), name) != except.end();
    if (may || !member.value().is_null()) continue;
    return bad(std::string(name.substr(0, kMaxShownName)) + " must not be null; omit it");
  }
  return {};
}

Members::Value Members::find(std::string_view name) const {
  const json::value* const found = object_->if_contains(json::string_view(name));
  if (found == nullptr || (found->is_null() && !strict_)) return nullptr;
  return {object_, found};
}

Result<std::optional<std::string>> Members::text(std::string_view name) const {
  const Value found = find(name);
  if (!found) return std::optional<std::string>();
  if (!found->is_string()) return bad(std::string(name) + " must be a string");
  return std::optional(string_of(found->get_string()));
}

Result<std::string> Members::needed_text(std::string_view name) const {
  HAPAX_TRY_ASSIGN(found, text(name));
  if (!found) return bad(std::string(name) + " is required");
  return *std::move(found);
}

Result<std::optional<bool>> Members::flag(std::string_view name) const {
  const Value found = find(name);
  if (!found) return std::optional<bool>();
  if (!found->is_bool()) return bad(std::string(name) + " must be a boolean");
  return std::optional(found->get_bool());
}

Result<std::optional<std::int64_t>> Members::number(std::string_view name, std::int64_t least,
                                                    std::int64_t most,
                                                    std::string_view unit) const {
  const Value found = find(name);
  if (!found) return std::optional<std::int64_t>();
  const std::int64_t* const number = found->if_int64();
  if (number == nullptr || *number < least || *number > most) {
    return bad(std::string(name) + " must be an integer " + std::string(unit) +
               (unit.empty() ? "from " : " from ") + std::to_string(least) + " to " +
               std::to_string(most));
  }
  return std::optional(*number);
}

Result<std::int64_t> Members::needed_number(std::string_view name) const {
  const Value found = find(name);
  if (!found) return bad(std::string(name) + " is required");
  const std::int64_t* const number = found->if_int64();
  if (number == nullptr) return bad(std::string(name) + " must be an integer");
  return *number;
}

Result<std::optional<std::chrono::milliseconds>> Members::seconds(std::string_view name,
                                                                  std::chrono::seconds least,
                                                                  std::chrono::seconds most) const {
  const Value found = find(name);
  if (!found) return std::optional<std::chrono::milliseconds>();
  json::error_code error;
  const auto seconds = found->is_number() ? found->to_number<double>(error) : std::nan("");
  // NaN fails the comparisons.
  const bool good =
      seconds >= static_cast<double>(least.count()) && seconds <= static_cast<double>(most.count());
  if (!good || error) {
    return bad(std::string(name) + " must be a number of seconds from " +
               std::to_string(least.count()) + " to " + std::to_string(most.count()));
  }
  return std::optional(
      std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(seconds * 1000))));
}

Result<std::optional<WallTime>> Members::time(std::string_view name) const {
  HAPAX_TRY_ASSIGN(given, text(name));
  if (!given) return std::optional<WallTime>();
  const std::optional<WallTime> time = parse_rfc3339(*given);
  if (!time) return bad(std::string(name) + " must be an RFC 3339 time");
  return time;
}

Result<std::optional<DeliveryState>> Members::state(std::string_view name) const {
  HAPAX_TRY_ASSIGN(given, text(name));
  if (!given) return std::optional<DeliveryState>();
  if (const auto state = delivery_state(*given)) return state;
  return bad(std::string(name) +
             " must be one of pending, leased, completed, dead, superseded, cancelled");
}

Result<std::optional<std::vector<std::string>>> Members::texts(std::string_view name) const {
  const Value found = find(name);
  if (!found) return std::optional<std::vector<std::string>>();
  std::vector<std::string> all;
  if (!found->is_array()) return bad(std::string(name) + " must be a list of strings");
  for (const json::value& each : found->get_array()) {
    if (!each.is_string()) return bad(std::string(name) + " must be a list of strings");
    all.push_back(string_of(each.get_string()));
  }
  return std::optional(std::move(all));
}

Result<std::optional<Members>> Members::object(std::string_view name, Names known) const {
  const Value found = find(name);
  if (!found) return std::optional<Members>();
  HAPAX_TRY_ASSIGN(members, within(found, name, "", known));
  return std::optional(std::move(members));
}

Result<std::vector<Members>> Members::needed_objects(std::string_view name, std::size_t most,
                                                     Names known) const {
  const Value found = find(name);
  if (!found) return bad(std::string(name) + " is required");
  const json::array* const list = found->if_array();
  if (list == nullptr) return bad(std::string(name) + " must be a list");
  if (list->size() > most) {
    return bad(std::string(name) + " has more than " + std::to_string(most) + " entries");
  }
  std::vector<Members> all;
  for (const json::value& each : *list) {
    const std::string which = std::string(name) + "[" + std::to_string(all.size()) + "]";
    HAPAX_TRY_ASSIGN(members, within({found, &each}, which, which + ".", known));
    all.push_back(std::move(members));
  }
  return all;
}

}  // namespace hapax::admin
