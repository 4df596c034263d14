// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>
#include <hapax/error.hpp>

#include "model/delivery.hpp"

#include <boost/json.hpp>

#include <chrono>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hapax::admin {

// Reads the members of a JSON body by name. Every error is invalid_argument and ends with `write`,
// a hint on what to send, which must outlive this object. Nested objects may outlive the outer one.
class Members {
 public:
  using Names = std::initializer_list<std::string_view>;

  // Rejects anything but an object, and members that are not in `known`. An empty body is {}, and a
  // null member counts as absent.
  static Result<Members> read(std::string_view body, std::string_view write, Names known);
  // As read(), but an empty body is an error, and null has the wrong type for every member.
  static Result<Members> read_strictly(std::string_view body, std::string_view write, Names known);

  // invalid_argument: a member is null that is not in `except`.
  Result<void> no_nulls(Names except = {}) const;
  Result<std::optional<std::string>> text(std::string_view name) const;
  Result<std::string> needed_text(std::string_view name) const;
  Result<std::optional<bool>> flag(std::string_view name) const;
  // `unit` is for the error text: "of seconds".
  Result<std::optional<std::int64_t>> number(std::string_view name, std::int64_t least,
                                             std::int64_t most, std::string_view unit = {}) const;
  Result<std::int64_t> needed_number(std::string_view name) const;
  // May have a fraction; rounded up to milliseconds.
  Result<std::optional<std::chrono::milliseconds>> seconds(std::string_view name,
                                                           std::chrono::seconds least,
                                                           std::chrono::seconds most) const;
  Result<std::optional<WallTime>> time(std::string_view name) const;  // RFC 3339
  Result<std::optional<DeliveryState>> state(std::string_view name) const;
  Result<std::optional<std::vector<std::string>>> texts(std::string_view name) const;
  Result<std::optional<Members>> object(std::string_view name, Names known) const;
  // A required list of up to `most` objects. Their errors contain the index.
  Result<std::vector<Members>> needed_objects(std::string_view name, std::size_t most,
                                              Names known) const;
  // `what` starts with the name of a member.
  Error bad(std::string_view what) const;

 private:
  using Value = std::shared_ptr<const boost::json::value>;  // keeps the whole body alive

  Members(std::string_view write, bool strict);
  Result<Members> parse(std::string_view body, Names known) const;
  Result<Members> within(const Value& value, std::string_view what, std::string where,
                         Names known) const;
  Result<void> check(Names known) const;
  Value find(std::string_view name) const;
  Error complaint(const std::string& what) const;

  std::shared_ptr<const boost::json::object> object_;
  std::string where_;  // prefix of member names in errors: "results[2]."
  std::string_view write_;
  bool strict_;
};

}  // namespace hapax::admin
