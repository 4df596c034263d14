// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Finds the identity of the events in a request, by an IdentityRule (scheme.hpp): the id to
/// deduplicate by, and what the server orders and filters by. Verify the request first.

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

/// Maximum length of an event id as displayed, in bytes.
inline constexpr std::size_t kMaxEventId = 1024;
/// Maximum length of an order key, in bytes.
inline constexpr std::size_t kMaxOrderKey = 1024;
/// Maximum length of a tenant, in bytes.
inline constexpr std::size_t kMaxTenant = 128;
/// Maximum length of a type, in bytes; a longer one is left out.
inline constexpr std::size_t kMaxType = 1024;

/// What identifies and describes one event.
struct Identity {
  std::string id;  ///< for display: the parts joined with '/'; 1 to kMaxEventId bytes
  /// For the index: the parts, each with its kind and length. Unlike `id` it is unique: the string
  /// "1" and the number 1, or "a/b" and the parts a and b, have different keys. Any bytes, up
  /// to 7 more than `id` has.
  std::string key;
  std::string type;                     ///< empty if the rule has no place, or it is unusable
  std::string order_key;                ///< empty if the rule has no place, or it is missing
  std::optional<std::int64_t> version;  ///< a time is in microseconds since 1970
  std::string tenant;                   ///< empty if the rule has no place
};

/// One event of a request.
struct Item {
  std::string_view bytes = {};  ///< its exact slice of the body; without split, the body
  /// Only this item is rejected: id_missing (id or tenant missing or outside the limits),
  /// id_ambiguous (id, tenant or order key repeated), payload_unreadable (order key too long).
  Reason reason = Reason::none;
  std::string detail;  ///< what was missing or invalid, if rejected; never a payload
  Identity identity;   ///< an empty id and key if the rule is "none"; all empty if rejected
};

/// The events of a request.
struct Identified {
  /// The whole request is rejected; there are no items: payload_unreadable (the body is not JSON
  /// but contains id, tenant or split; nothing at `split`), id_ambiguous (the path of `split`),
  /// body_too_large (more than `split_max` events).
  Reason reason = Reason::none;
  std::string detail;  ///< what was missing or invalid, if rejected; never a payload
  /// One item without split. With it, in the order of the array; empty if the array is, which is
  /// not an error.
  std::vector<Item> items;
};

/// An IdentityRule, checked and parsed. Make one per source and keep it. Immutable: any number of
/// threads may use one.
class HAPAX_API Identifier {
 public:
  /// Compiles a rule: `Identifier::make(preset->identity)`. It copies what it needs. misconfigured:
  /// an invalid place; the detail names the option and the accepted form.
  static Result<Identifier> make(const IdentityRule& rule);
  ~Identifier();
  /// Takes over the other identifier, which may then only be destroyed or assigned to.
  Identifier(Identifier&&) noexcept;
  /// Takes over the other identifier.
  Identifier& operator=(Identifier&&) noexcept;

  /// Finds the events of one request. Never fails, whatever the bytes; problems are reported in the
  /// result. Item::bytes are views into `request.body`; everything else is copied.
  Identified identify(const Request& request, Scratch& scratch) const;

 private:
  struct Parsed;
  explicit Identifier(std::unique_ptr<const Parsed> parsed);
  std::unique_ptr<const Parsed> parsed_;
};

}  // namespace hapax
