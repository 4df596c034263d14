// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hapax::admin {

// The right a route requires. The admin token has all rights.
enum class Right : std::uint8_t {
  unsaid,  // default: read for GET, else admin
  read,
  replay,  // replay, cancel, pause
  lease,   // for one destination, as settle
  settle,
  dedup,  // for one scope
  admin,  // the admin token only
};

std::string_view name(Right right) noexcept;  // "lease"
// As written in `allow`, with a placeholder: "lease:DESTINATION".
std::string in_words(Right right);

// One entry of `allow`: "lease:audit".
struct Grant {
  Right right = Right::read;
  std::string of = {};  // a destination or a scope; empty for read and replay

  friend bool operator==(const Grant&, const Grant&) = default;
};

// The rights of a token.
class Rights {
 public:
  Rights() = default;  // all
  explicit Rights(std::vector<Grant> grants) : all_(false), grants_(std::move(grants)) {}

  bool all() const { return all_; }
  bool may(Right right, std::string_view of) const;
  bool may_some(Right right) const;  // for any destination or scope

 private:
  bool all_ = true;
  std::vector<Grant> grants_;
};

}  // namespace hapax::admin
