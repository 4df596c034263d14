// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "admin/config_view.hpp"

#include <algorithm>

namespace hapax::admin {

const DestinationView* ConfigView::find(std::string_view destination) const {
  const auto found = std::find_if(destinations.begin(), destinations.end(),
                                  [&](const auto& each) { return each.name == destination; });
  return found == destinations.end() ? nullptr : &*found;
}

const DestinationView* ConfigView::find(DestinationNo destination) const {
  const auto found = std::find_if(destinations.begin(), destinations.end(),
                                  [&](const auto& each) { return each.no == destination; });
  return found == destinations.end() ? nullptr : &*found;
}

SourceView source_view(const gateway::Source& source) {
  SourceView view{.name = source.name, .no = source.no};
  if (source.preset != nullptr) {
    view.preset = source.preset->name;
    view.id_signed = source.preset->id_signed;
    view.time_signed = source.preset->time_signed;
  }
  view.splits = source.splits;
  view.enforce = source.enforce;
  view.unnamed = source.tenant.empty();
  if (!source.tenant.empty()) view.tenants.push_back(source.tenant);
  view.deliver_to = source.deliver_to;
  view.remember = source.remember;
  view.keep = source.keep;
  view.keep_dead = source.keep_dead;
  view.secrets.push_back({source.tenant, source.secrets.size(), source.secret_use});
  return view;
}

void add_source_view(const gateway::Source& source, std::vector<SourceView>& among) {
  const auto found = std::find_if(among.begin(), among.end(),
                                  [&](const SourceView& each) { return each.name == source.name; });
  if (found == among.end()) {
    among.push_back(source_view(source));
    return;
  }
  found->secrets.push_back({source.tenant, source.secrets.size(), source.secret_use});
  if (source.tenant.empty()) {
    found->unnamed = true;
  } else {
    found->tenants.push_back(source.tenant);
  }
}

}  // namespace hapax::admin
