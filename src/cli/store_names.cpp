// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "cli/store_names.hpp"

#include "cli/admin_client.hpp"

#include <algorithm>

namespace hapax::cli {

namespace {

constexpr std::string_view kOutbox = "outbox";  // hapax's own

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
    sentences.push_back("the store knows the source " + quoted(each.name) +
                        ", which the file lacks: renamed, it is a new source that remembers "
                        "nothing of the old one; its events stay until the name is back");
  }
  for (const store::KnownName& each : summary.destinations) {
    if (has(config.destinations, each.name)) continue;
    sentences.push_back("the store knows the destination " + quoted(each.name) +
                        ", which the file lacks: its deliveries wait until the name is back");
  }
  return sentences;
}

}  // namespace hapax::cli
