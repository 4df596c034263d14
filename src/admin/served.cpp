// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "admin/served.hpp"

#include <algorithm>

namespace hapax::admin {

const ServedDestination* Served::find(std::string_view destination) const {
  const auto found = std::find_if(destinations.begin(), destinations.end(),
                                  [&](const auto& each) { return each.name == destination; });
  return found == destinations.end() ? nullptr : &*found;
}

const ServedDestination* Served::find(DestinationNo destination) const {
  const auto found = std::find_if(destinations.begin(), destinations.end(),
                                  [&](const auto& each) { return each.no == destination; });
  return found == destinations.end() ? nullptr : &*found;
}

ServedSource shown(const gateway::Source& source) {
  ServedSource shown{.name = source.name, .no = source.no};
  if (source.preset != nullptr) {
    shown.preset = source.preset->name;
    shown.id_signed = source.preset->id_signed;
    shown.time_signed = source.preset->time_signed;
  }
  shown.splits = source.splits;
  shown.enforce = source.enforce;
  shown.unnamed = source.tenant.empty();
  if (!source.tenant.empty()) shown.tenants.push_back(source.tenant);
  shown.deliver_to = source.deliver_to;
  shown.remember = source.remember;
  shown.keep = source.keep;
  shown.keep_dead = source.keep_dead;
  shown.secrets.push_back({source.tenant, source.secrets.size(), source.secret_use});
  return shown;
}

void show(const gateway::Source& source, std::vector<ServedSource>& among) {
  const auto found = std::find_if(among.begin(), among.end(), [&](const ServedSource& each) {
    return each.name == source.name;
  });
  if (found == among.end()) {
    among.push_back(shown(source));
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
