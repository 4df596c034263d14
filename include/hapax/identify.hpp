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
inline constexpr std::size_t kMaxEventId = 1024;  // bytes, as shown
inline constexpr std::size_t kMaxOrderKey = 1024;
inline constexpr std::size_t kMaxTenant = 128;
inline constexpr std::size_t kMaxType = 1024;

// Where the identity of an event is found in its request. A place is written "header:NAME",
// "json:/pointer", "form:NAME" or "query:NAME"; of "header:A,B" the first that is there counts, and
// "jwt:HEADER:/pointer" is a part of the token in that header. An empty one is not used. Plain
// data, so that presets can be a table.
struct IdentityRule {
  // One place, or several for a composite id: all of them are required. "none": the sender gives no
  // id, and every arrival is an event of its own.
  std::array<std::string_view, kMaxIdParts> id{};
  // "hash:/a,/b": when `id` is absent, the hash of these parts of a JSON body, all required. An id
  // that is there and cannot be used (empty, too long, another type, twice) is refused all the
  // same.
  std::string_view id_fallback = {};
  std::string_view type = {};       // empty where it is not there or cannot be used
  std::string_view order_key = {};  // deliveries with the same one stay in order; empty likewise
  std::string_view version = {};  // how new: an integer, or an RFC 3339 time; anything else is none
  std::string_view tenant = {};   // required where a place is given
  // "json:/*", "json:/items/*/item": one request carries many events. The JSON places above are
  // then looked for in each of them.
  std::string_view split = {};
  std::size_t split_max = 1000;
};

struct Identity {
  std::string id;   // for people: the parts with '/' between
  std::string key;  // for the index: the parts, each with its kind and length; no two ids share one
  std::string type;
  std::string order_key;
  std::optional<std::int64_t> version;  // a time is in microseconds since 1970
  std::string tenant;
};

// One event of a request.
struct Item {
  std::string_view bytes = {};  // its exact slice of the body; without split, the body
  // Only this item is refused: id_missing (id or tenant not there, or outside the limits),
  // id_ambiguous (id, tenant or order key there twice), payload_unreadable (order key too long).
  Reason reason = Reason::none;
  std::string detail;  // what was looked for, when refused; never a payload
  Identity identity;   // an empty id and key when the rule says "none"; all empty when refused
};

struct Identified {
  // The whole is refused, and there are no items: payload_unreadable (a body that is not JSON where
  // id, tenant or split are in it; nothing at `split`), id_ambiguous (the path of `split`),
  // body_too_large.
  Reason reason = Reason::none;
  std::string detail;
  // One without split. With it, in the order of the array; empty when the array is.
  std::vector<Item> items;
};

// An IdentityRule, checked and parsed. Immutable: any number of threads may use one.
class HAPAX_API Identifier {
 public:
  // misconfigured: a place that cannot be read, said with what to write instead.
  static Result<Identifier> make(const IdentityRule& rule);
  ~Identifier();
  Identifier(Identifier&&) noexcept;
  Identifier& operator=(Identifier&&) noexcept;

  // Never fails on any bytes: what is wrong is in the answer. The slices are into request.body.
  Identified identify(const Request& request, Scratch& scratch) const;

 private:
  struct Parsed;
  explicit Identifier(std::unique_ptr<const Parsed> parsed);
  std::unique_ptr<const Parsed> parsed_;
};

}  // namespace hapax
