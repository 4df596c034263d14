// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>
#include <hapax/result.hpp>

#include "model/delivery.hpp"

#include <boost/json.hpp>

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hapax::admin {

// The members of a JSON body, each asked for by name. Every error is invalid_argument and ends with
// what to write. A member that is null is as one that is not there.
class Members {
 public:
  // Refuses what is not an object, and members that are not in `known`. An empty body is {}.
  // `write` must outlive it.
  static Result<Members> read(std::string_view body, std::string_view write,
                              std::initializer_list<std::string_view> known);

  // invalid_argument: a member is null.
  Result<void> no_nulls() const;
  Result<std::optional<std::string>> text(std::string_view name) const;
  Result<std::optional<bool>> flag(std::string_view name) const;
  Result<std::optional<std::int64_t>> number(std::string_view name, std::int64_t least,
                                             std::int64_t most) const;
  Result<std::optional<WallTime>> time(std::string_view name) const;  // RFC 3339
  Result<std::optional<DeliveryState>> state(std::string_view name) const;
  Result<std::optional<std::vector<std::string>>> texts(std::string_view name) const;
  Result<std::optional<Members>> object(std::string_view name,
                                        std::initializer_list<std::string_view> known) const;
  Error bad(std::string_view what) const;

 private:
  Members(boost::json::object object, std::string_view write)
      : object_(std::move(object)), write_(write) {}
  const boost::json::value* find(std::string_view name) const;
  Result<void> check(std::initializer_list<std::string_view> known) const;

  boost::json::object object_;
  std::string_view write_;
};

}  // namespace hapax::admin
