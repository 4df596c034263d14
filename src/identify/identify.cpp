// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include <hapax/identify.hpp>

#include "base/calendar.hpp"
#include "base/hex.hpp"
#include "identify/id_parts.hpp"
#include "identify/rule.hpp"

#include <charconv>
#include <utility>

namespace hapax {

namespace {

// The reason why an event has no identity.
struct Refusal {
  Reason reason = Reason::none;
  std::string detail;
  bool whole = false;  // the whole request is unreadable, not just this event
};

using Refused = std::optional<Refusal>;

std::string_view why_unreadable(const Field& field) {
  if (field.from == Field::From::json) return " cannot be read: the body is not JSON";
  if (field.from == Field::From::jwt)
    return " cannot be read: the header is not a JWT with a JSON payload";
  return " cannot be read: too many fields";
}

// `option` is the configuration option that names the field.
Refusal refusal(std::string_view option, const Field& field, FieldStatus status) {
  std::string detail(option);
  detail += ": ";
  detail += to_string(field);
  switch (status) {
    case FieldStatus::unreadable:
      return {Reason::payload_unreadable, detail.append(why_unreadable(field)), true};
    case FieldStatus::ambiguous:
      return {Reason::id_ambiguous, detail.append(" occurs more than once"), false};
    case FieldStatus::unusable:
      return {Reason::id_missing, detail.append(" is neither a string nor a number"), false};
    case FieldStatus::absent:
    case FieldStatus::found:  // but empty
      break;
  }
  const bool absent = status == FieldStatus::absent;
  return {Reason::id_missing, detail.append(absent ? " is missing" : " is empty"), false};
}

// An integer, or a time in microseconds; nullopt for anything else.
std::optional<std::int64_t> parse_version(std::string_view text) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, number);
  if (failure == std::errc() && rest == end) return number;
  const std::optional<WallTime> time = parse_rfc3339(text);
  if (!time) return std::nullopt;
  return time->time_since_epoch().count();
}

// Reads the identity of one event: a whole request, or one element of it.
class EventReader {
 public:
  EventReader(const ParsedRule& rule, const Request& request, JsonReader& json)
      : rule_(rule), fields_(request, json) {}

  Refused read(Identity& identity) {
    if (Refused refused = read_id(identity)) return refused;
    if (Refused refused = read_tenant(identity)) return refused;
    if (Refused refused = read_order_key(identity)) return refused;
    read_type(identity);
    read_version(identity);
    return std::nullopt;
  }

 private:
  using Parts = std::vector<IdPart>;

  // The fallback applies only to a missing id. An id that is present but unusable is rejected: with
  // the fallback its event would get a second identity.
  Refused read_id(Identity& identity) {
    if (rule_.every_arrival) return std::nullopt;
    if (rule_.id.empty()) return read_hash(identity);
    Parts parts;
    FieldStatus last = FieldStatus::found;
    if (Refused refused = read_parts("id", rule_.id, parts, last)) {
      const bool fall_back = last == FieldStatus::absent && !rule_.fallback.empty();
      return fall_back ? read_hash(identity) : refused;
    }
    identity.id = shown_id(parts);
    if (identity.id.size() > kMaxEventId) {
      identity.id.clear();
      return Refusal{Reason::id_missing, "id: longer than 1024 bytes", false};
    }
    identity.key = id_key(parts);
    return std::nullopt;
  }

  Refused read_hash(Identity& identity) {
    Parts parts;
    FieldStatus last = FieldStatus::found;
    if (Refused refused = read_parts("id_fallback", rule_.fallback, parts, last)) return refused;
    const Digest digest = hash_of(parts);
    identity.id = "hash:" + to_hex(view(digest));
    identity.key = hash_key(digest);
    return std::nullopt;
  }

  // Reads all places; none may be missing or empty. `last` is the status of the last place read.
  Refused read_parts(std::string_view option, const std::vector<Field>& places, Parts& parts,
                     FieldStatus& last) {
    parts.reserve(places.size());
    for (const Field& place : places) {
      FieldValue value = fields_.read(place);
      last = value.status;
      if (last != FieldStatus::found || value.text.empty()) return refusal(option, place, last);
      parts.push_back({value.number, std::move(value.text)});
    }
    return std::nullopt;
  }

  Refused read_tenant(Identity& identity) {
    if (!rule_.tenant) return std::nullopt;
    FieldValue value = fields_.read(*rule_.tenant);
    if (value.status != FieldStatus::found || value.text.empty()) {
      return refusal("tenant", *rule_.tenant, value.status);
    }
    if (value.text.size() > kMaxTenant) {
      return Refusal{Reason::id_missing, "tenant: longer than 128 bytes", false};
    }
    identity.tenant = std::move(value.text);
    return std::nullopt;
  }

  // Without an order key (also if the body is not JSON) the event is in no lane. A repeated order
  // key is rejected: choosing one of its values would be a guess.
  Refused read_order_key(Identity& identity) {
    if (!rule_.order_key) return std::nullopt;
    FieldValue value = fields_.read(*rule_.order_key);
    if (value.status == FieldStatus::ambiguous) {
      return refusal("order_key", *rule_.order_key, value.status);
    }
    if (value.text.size() > kMaxOrderKey) {
      return Refusal{Reason::payload_unreadable, "order_key: longer than 1024 bytes", false};
    }
    identity.order_key = std::move(value.text);
    return std::nullopt;
  }

  // The type is for display and filters: empty if it is missing or unusable.
  void read_type(Identity& identity) {
    if (!rule_.type) return;
    FieldValue value = fields_.read(*rule_.type);
    if (value.text.size() <= kMaxType) identity.type = std::move(value.text);
  }

  void read_version(Identity& identity) {
    if (!rule_.version) return;
    const FieldValue value = fields_.read(*rule_.version);
    if (value.status == FieldStatus::found) identity.version = parse_version(value.text);
  }

  const ParsedRule& rule_;
  FieldReader fields_;
};

Identified refuse_whole(Reason reason, std::string detail) {
  Identified identified;
  identified.reason = reason;
  identified.detail = std::move(detail);
  return identified;
}

// The element as a separate request. The bytes after it in the body serve as padding.
Request request_of(const Request& request, std::string_view element) {
  const char* end = request.body.data() + request.body.size();
  const auto after = static_cast<std::size_t>(end - (element.data() + element.size()));
  Request own = request;
  own.body = element;
  own.body_padding = after + request.body_padding;
  return own;
}

// Adds the event of `request`. Returns a refusal only if it applies to the whole request.
Refused add_item(const ParsedRule& rule, const Request& request, Scratch& scratch,
                 std::vector<Item>& items) {
  Item item;
  item.bytes = request.body;
  Refused refused = EventReader(rule, request, scratch.json()).read(item.identity);
  if (refused && refused->whole) return refused;
  if (refused) {
    item.reason = refused->reason;
    item.detail = std::move(refused->detail);
    item.identity = {};
  }
  items.push_back(std::move(item));
  return std::nullopt;
}

std::string place_of_split(const ParsedRule& rule) {
  return "split: json:" + *rule.split;
}

// Returns the elements, or sets `refused`.
std::vector<std::string_view> split(const ParsedRule& rule, const Request& request,
                                    Scratch& scratch, Refusal& refused) {
  FieldReader fields(request, scratch.json());
  JsonReader* json = fields.json();
  JsonElements elements;
  elements.status = JsonStatus::unreadable;
  if (json != nullptr) elements = json->each(*rule.split, rule.split_max);
  if (elements.too_many) {
    refused = {Reason::body_too_large,
               "split: more than " + std::to_string(rule.split_max) + " events", true};
  } else if (elements.status == JsonStatus::unreadable) {
    refused = {Reason::payload_unreadable,
               place_of_split(rule) + " cannot be read: the body is not JSON", true};
  } else if (elements.status == JsonStatus::ambiguous) {
    refused = {Reason::id_ambiguous, place_of_split(rule) + " occurs more than once", true};
  } else if (elements.status == JsonStatus::absent) {
    refused = {Reason::payload_unreadable, place_of_split(rule) + " is missing", true};
  }
  return std::move(elements.raw);
}

}  // namespace

struct Identifier::Parsed {
  ParsedRule rule;
};

Result<Identifier> Identifier::make(const IdentityRule& rule) {
  Result<ParsedRule> parsed = parse_rule(rule);
  if (!parsed) return std::move(parsed).error();
  return Identifier(std::make_unique<const Parsed>(Parsed{*std::move(parsed)}));
}

Identifier::Identifier(std::unique_ptr<const Parsed> parsed) : parsed_(std::move(parsed)) {}
Identifier::~Identifier() = default;
Identifier::Identifier(Identifier&&) noexcept = default;
Identifier& Identifier::operator=(Identifier&&) noexcept = default;

Identified Identifier::identify(const Request& request, Scratch& scratch) const {
  const ParsedRule& rule = parsed_->rule;
  Identified identified;
  if (!rule.split) {
    Refused refused = add_item(rule, request, scratch, identified.items);
    if (refused) return refuse_whole(refused->reason, std::move(refused->detail));
    return identified;
  }
  Refusal refusal;
  const std::vector<std::string_view> elements = split(rule, request, scratch, refusal);
  if (refusal.whole) return refuse_whole(refusal.reason, std::move(refusal.detail));
  identified.items.reserve(elements.size());
  for (const std::string_view element : elements) {
    Refused refused = add_item(rule, request_of(request, element), scratch, identified.items);
    if (refused) return refuse_whole(refused->reason, std::move(refused->detail));
  }
  return identified;
}

}  // namespace hapax
