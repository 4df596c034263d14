// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/error.hpp>
#include <hapax/scheme.hpp>
#include <hapax/verify.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hapax {

inline constexpr std::size_t kMaxEventId = 1024;  // bytes, as displayed
inline constexpr std::size_t kMaxOrderKey = 1024;
inline constexpr std::size_t kMaxTenant = 128;
inline constexpr std::size_t kMaxType = 1024;

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
