// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/catalog.hpp"

#include <map>
#include <optional>
#include <string>

namespace hapax::admin {

// Names known to the store, including those no longer configured.
class Names {
 public:
  static Result<Names> read(store::Catalog& catalog, store::NameKind kind);

  std::string of(std::int64_t number) const;  // "#7" for an unknown one
  std::optional<std::int64_t> find(std::string_view name) const;

 private:
  std::map<std::int64_t, std::string> by_number_;
};

}  // namespace hapax::admin
