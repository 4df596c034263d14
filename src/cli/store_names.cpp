// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "cli/store_names.hpp"

#include "cli/admin_client.hpp"

#include <algorithm>

namespace hapax::cli {

namespace {

constexpr std::string_view kOutbox = "outbox";  // hapax's internal source

template <class List>
bool has(const List& list, std::string_view name) {
  return std::any_of(list.begin(), list.end(), [&](const auto& each) { return each.name == name; });
}

std::string quoted(const std::string& name) {
  return "\"" + without_controls(name) + "\"";
}

}  // namespace

std::vector<std::string> names_without_file(const store::StoreSummary& summary,
                                            const daemon::Config& config) {
  std::vector<std::string> sentences;
  for (const store::KnownName& each : summary.sources) {
    if (each.name == kOutbox || has(config.sources, each.name)) continue;
    sentences.push_back("the store has source " + quoted(each.name) +
                        ", which is not configured; a renamed source starts without known ids");
  }
  for (const store::KnownName& each : summary.destinations) {
    if (has(config.destinations, each.name)) continue;
    sentences.push_back("the store has destination " + quoted(each.name) +
                        ", which is not configured; its deliveries stay pending until the name is "
                        "configured again");
  }
  return sentences;
}

}  // namespace hapax::cli
