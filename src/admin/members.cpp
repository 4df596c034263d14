// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "admin/members.hpp"

#include "base/calendar.hpp"
#include "base/try.hpp"

#include <algorithm>
#include <array>

namespace hapax::admin {

namespace {

namespace json = boost::json;

constexpr std::size_t kMaxShownName = 64;

constexpr std::array kStates{DeliveryState::pending,    DeliveryState::leased,
                             DeliveryState::completed,  DeliveryState::dead,
                             DeliveryState::superseded, DeliveryState::cancelled};

std::string string_of(const json::string& text) {
  return {text.data(), text.size()};
}

}  // namespace

Error Members::bad(std::string_view what) const {
  return Error(Code::invalid_argument, std::string(what) + "; " + std::string(write_));
}

Result<Members> Members::read(std::string_view body, std::string_view write,
                              std::initializer_list<std::string_view> known) {
  const Members none({}, write);
  if (body.empty()) return none;
  json::error_code error;
  json::value value = json::parse(json::string_view(body.data(), body.size()), error);
  if (error) return none.bad("the body is not JSON: " + error.message());
  if (!value.is_object()) return none.bad("the body is not a JSON object");
  Members members(std::move(value.get_object()), write);
  HAPAX_TRY(members.check(known));
  return members;
}

Result<void> Members::check(std::initializer_list<std::string_view> known) const {
  for (const auto& member : object_) {
    const std::string_view name(member.key().data(), member.key().size());
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return bad("there is no member '" + std::string(name.substr(0, kMaxShownName)) + "'");
    }
  }
  return {};
}

Result<void> Members::no_nulls() const {
  for (const auto& member : object_) {
    if (!member.value().is_null()) continue;
    const std::string_view name(member.key().data(), member.key().size());
    return bad(std::string(name.substr(0, kMaxShownName)) + " is null; leave it out");
  }
  return {};
}

const json::value* Members::find(std::string_view name) const {
  const json::value* const found = object_.if_contains(json::string_view(name));
  return found != nullptr && !found->is_null() ? found : nullptr;
}

Result<std::optional<std::string>> Members::text(std::string_view name) const {
  const json::value* const found = find(name);
  if (found == nullptr) return std::optional<std::string>();
  if (!found->is_string()) return bad(std::string(name) + " is not a string");
  return std::optional(string_of(found->get_string()));
}

Result<std::optional<bool>> Members::flag(std::string_view name) const {
  const json::value* const found = find(name);
  if (found == nullptr) return std::optional<bool>();
  if (!found->is_bool()) return bad(std::string(name) + " is not true or false");
  return std::optional(found->get_bool());
}

Result<std::optional<std::int64_t>> Members::number(std::string_view name, std::int64_t least,
                                                    std::int64_t most) const {
  const json::value* const found = find(name);
  if (found == nullptr) return std::optional<std::int64_t>();
  const std::int64_t* const number = found->if_int64();
  if (number == nullptr || *number < least || *number > most) {
    return bad(std::string(name) + " is not a whole number from " + std::to_string(least) + " to " +
               std::to_string(most));
  }
  return std::optional(*number);
}

Result<std::optional<WallTime>> Members::time(std::string_view name) const {
  HAPAX_TRY_ASSIGN(given, text(name));
  if (!given) return std::optional<WallTime>();
  const std::optional<WallTime> time = parse_rfc3339(*given);
  if (!time) return bad(std::string(name) + " is not a time of RFC 3339");
  return time;
}

Result<std::optional<DeliveryState>> Members::state(std::string_view name) const {
  HAPAX_TRY_ASSIGN(given, text(name));
  if (!given) return std::optional<DeliveryState>();
  for (const DeliveryState each : kStates) {
    if (hapax::name(each) == *given) return std::optional(each);
  }
  return bad(std::string(name) +
             " is not pending, leased, completed, dead, superseded or cancelled");
}

Result<std::optional<std::vector<std::string>>> Members::texts(std::string_view name) const {
  const json::value* const found = find(name);
  if (found == nullptr) return std::optional<std::vector<std::string>>();
  std::vector<std::string> all;
  if (!found->is_array()) return bad(std::string(name) + " is not a list of strings");
  for (const json::value& each : found->get_array()) {
    if (!each.is_string()) return bad(std::string(name) + " is not a list of strings");
    all.push_back(string_of(each.get_string()));
  }
  return std::optional(std::move(all));
}

Result<std::optional<Members>> Members::object(
    std::string_view name, std::initializer_list<std::string_view> known) const {
  const json::value* const found = find(name);
  if (found == nullptr) return std::optional<Members>();
  if (!found->is_object()) return bad(std::string(name) + " is not an object");
  Members members(found->get_object(), write_);
  HAPAX_TRY(members.check(known));
  return std::optional(std::move(members));
}

}  // namespace hapax::admin
