// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>
#include <hapax/error.hpp>

#include "base/form.hpp"
#include "model/delivery.hpp"

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hapax::admin {

inline constexpr std::size_t kDefaultLimit = 100;  // per page

// The parameters of a request. Every error is invalid_argument and begins with the parameter's
// name.
class Query {
 public:
  // Rejects unknown and repeated parameters.
  static Result<Query> parse(std::string_view text,
                             std::initializer_list<std::string_view> allowed);

  std::optional<std::string_view> text(std::string_view name) const;  // valid as long as the query
  Result<std::optional<WallTime>> time(std::string_view name) const;  // RFC 3339
  Result<std::optional<DeliveryState>> state(std::string_view name) const;
  // `least` to `most`; `otherwise` if absent.
  Result<std::size_t> count(std::string_view name, std::size_t least, std::size_t most,
                            std::size_t otherwise) const;

 private:
  explicit Query(std::vector<FormField> fields) : fields_(std::move(fields)) {}
  std::vector<FormField> fields_;
};

}  // namespace hapax::admin
