// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "admin/names.hpp"

#include "base/try.hpp"

#include <algorithm>
#include <utility>

namespace hapax::admin {

Result<Names> Names::read(store::Catalog& catalog, store::NameKind kind) {
  HAPAX_TRY_ASSIGN(known, catalog.names(kind));
  Names names;
  for (store::KnownName& each : known) {
    names.by_number_.emplace(each.number, std::move(each.name));
  }
  return names;
}

std::string Names::of(std::int64_t number) const {
  const auto found = by_number_.find(number);
  return found == by_number_.end() ? "#" + std::to_string(number) : found->second;
}

std::optional<std::int64_t> Names::find(std::string_view name) const {
  const auto found = std::find_if(by_number_.begin(), by_number_.end(),
                                  [&](const auto& each) { return each.second == name; });
  return found == by_number_.end() ? std::nullopt : std::optional(found->first);
}

}  // namespace hapax::admin
