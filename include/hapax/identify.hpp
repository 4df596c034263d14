// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/reason.hpp>
#include <hapax/request.hpp>
#include <hapax/result.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hapax {

inline constexpr std::size_t kMaxIdParts = 4;
inline constexpr std::size_t kMaxEventId = 1024;  // bytes, as displayed
inline constexpr std::size_t kMaxOrderKey = 1024;
inline constexpr std::size_t kMaxTenant = 128;
inline constexpr std::size_t kMaxType = 1024;

// Where the identity of an event is in its request. A place is "header:NAME", "json:/pointer",
// "form:NAME" or "query:NAME"; "header:A,B" uses the first header present; "jwt:HEADER:/pointer" is
// a member of the token in that header. An empty place is unused. Plain data, so presets can be a
// table.
struct IdentityRule {
  // One place, or several for a composite id: all of them are required. "none": the sender provides
  // no id; every request is a new event.
  std::array<std::string_view, kMaxIdParts> id{};
  // "hash:/a,/b": when `id` is absent, the hash of these parts of a JSON body, all required. An
  // unusable id (empty, too long, wrong type, repeated) is still rejected.
  std::string_view id_fallback = {};
  std::string_view type = {};       // empty if missing or unusable
  std::string_view order_key = {};  // deliveries that share it stay in order; empty likewise
  std::string_view version = {};    // an integer or RFC 3339 time; anything else is ignored
  std::string_view tenant = {};     // required if a place is given
  // "json:/*", "json:/items/*/item": one request carries many events. The JSON places above are
  // then resolved in each of them.
  std::string_view split = {};
  std::size_t split_max = 1000;
};

struct Identity {
  std::string id;   // for display: the parts joined with '/'
  std::string key;  // for the index: the parts, each with its kind and length; unique per id
  std::string type;
  std::string order_key;
  std::optional<std::int64_t> version;  // a time is in microseconds since 1970
  std::string tenant;
};

// One event of a request.
struct Item {
  std::string_view bytes = {};  // its exact slice of the body; without split, the body
  // Only this item is rejected: id_missing (id or tenant missing or outside the limits),
  // id_ambiguous (id, tenant or order key repeated), payload_unreadable (order key too long).
  Reason reason = Reason::none;
  std::string detail;  // what was missing or invalid, if rejected; never a payload
  Identity identity;   // an empty id and key if the rule is "none"; all empty if rejected
};

struct Identified {
  // The whole request is rejected; there are no items: payload_unreadable (the body is not JSON but
  // contains id, tenant or split; nothing at `split`), id_ambiguous (the path of `split`),
  // body_too_large.
  Reason reason = Reason::none;
  std::string detail;
  // One item without split. With it, in the order of the array; empty if the array is.
  std::vector<Item> items;
};

// An IdentityRule, checked and parsed. Immutable: any number of threads may use one.
class HAPAX_API Identifier {
 public:
  // misconfigured: an invalid place, with the accepted form in the message.
  static Result<Identifier> make(const IdentityRule& rule);
  ~Identifier();
  Identifier(Identifier&&) noexcept;
  Identifier& operator=(Identifier&&) noexcept;

  // Never fails, whatever the bytes; problems are reported in the result. The slices are into
  // request.body.
  Identified identify(const Request& request, Scratch& scratch) const;

 private:
  struct Parsed;
  explicit Identifier(std::unique_ptr<const Parsed> parsed);
  std::unique_ptr<const Parsed> parsed_;
};

}  // namespace hapax
