// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hapax::admin {

// The right a route requires. The admin token may do all of it.
enum class Right : std::uint8_t {
  unsaid,  // of a route that names none: GET is read, the rest is for the admin token
  read,
  replay,  // replay, cancel, pause
  lease,   // of one destination, as settle is
  settle,
  dedup,  // of one scope
  admin,  // the admin token only
};

std::string_view name(Right right) noexcept;  // "lease"
// "lease:DESTINATION": as it is written in `allow`, with a word for what it is of.
std::string in_words(Right right);

// One entry of `allow`: "lease:audit".
struct Grant {
  Right right = Right::read;
  std::string of = {};  // a destination or a scope; empty for read and replay

  friend bool operator==(const Grant&, const Grant&) = default;
};

// What the holder of a token may do.
class Rights {
 public:
  Rights() = default;  // all
  explicit Rights(std::vector<Grant> grants) : all_(false), grants_(std::move(grants)) {}

  bool all() const { return all_; }
  bool may(Right right, std::string_view of) const;
  bool may_some(Right right) const;  // of whatever

 private:
  bool all_ = true;
  std::vector<Grant> grants_;
};

}  // namespace hapax::admin
