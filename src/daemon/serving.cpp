// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "daemon/serving.hpp"

#include "base/try.hpp"

#include <algorithm>

namespace hapax::daemon {

namespace {

// Replaces names by their numbers in the store.
Result<void> intern(gateway::Source& source, store::Catalog& catalog) {
  HAPAX_TRY_ASSIGN(number, catalog.number_of(store::NameKind::source, source.name));
  source.no = SourceNo(number);
  auto targets = std::make_shared<gateway::RoutingTable>();
  for (const std::string& each : source.deliver_to) {
    HAPAX_TRY_ASSIGN(to, catalog.number_of(store::NameKind::destination, each));
    targets->push_back({.to = DestinationNo(to)});
  }
  source.routing->publish(std::move(targets));
  return {};
}

Result<void> intern(std::vector<deliver::Destination>& destinations, store::Catalog& catalog) {
  for (deliver::Destination& each : destinations) {
    HAPAX_TRY_ASSIGN(no, catalog.number_of(store::NameKind::destination, each.name));
    each.no = DestinationNo(no);
  }
  return {};
}

admin::DestinationView destination_view(const deliver::Destination& to) {
  admin::DestinationView made{.name = to.name, .kind = "pull", .no = to.no};
  if (to.kind != deliver::Destination::Kind::http) return made;
  made.kind = "http";
  made.concurrency = static_cast<std::int64_t>(to.concurrency);
  made.rate = to.rate;
  return made;
}

// A secret that is still configured keeps its time of last use, whatever its position is now.
void carry_over(const gateway::Source& from, gateway::Source& to) {
  for (std::size_t i = 0; i < to.secrets.size(); ++i) {
    for (std::size_t before = 0; before < from.secrets.size(); ++before) {
      const auto used = from.secret_use->last(before);
      if (used && from.secrets[before] == to.secrets[i]) to.secret_use->note(i, *used);
    }
  }
}

}  // namespace

Result<std::shared_ptr<const gateway::Sources>> sources_of(Config& from,
                                                           const gateway::Sources* before,
                                                           store::Catalog& catalog,
                                                           gateway::Handshakes& handshakes,
                                                           gateway::Metrics& metrics) {
  auto made = std::make_shared<gateway::Sources>();
  for (gateway::Source& each : from.sources) {
    HAPAX_TRY(intern(each, catalog));
    each.public_url = from.public_url;
    HAPAX_TRY_TO(each.provisioned, handshakes.of(each));
    gateway::SourceMetrics& counts = metrics.of_source(each.name, each.tenant);
    std::string path = path_of(each);
    if (before != nullptr && before->by_name.contains(path)) {
      carry_over(before->by_name.find(path)->second.source, each);
    }
    made->by_name.emplace(std::move(path), gateway::Sources::Entry{{}, std::move(each), &counts});
  }
  from.sources.clear();
  return std::shared_ptr<const gateway::Sources>(std::move(made));
}

std::vector<store::Periods> periods_of(const gateway::Sources& sources) {
  std::vector<store::Periods> periods;
  for (const auto& [name, entry] : sources.by_name) {
    const gateway::Source& source = entry.source;
    const auto is_known = [&](const store::Periods& each) { return each.source == source.no; };
    if (std::any_of(periods.begin(), periods.end(), is_known)) continue;  // another tenant
    periods.push_back({.source = source.no, .keep = source.keep, .keep_dead = source.keep_dead});
  }
  return periods;
}

Result<std::shared_ptr<const admin::ConfigView>> config_view_of(Config& from,
                                                                const gateway::Sources& sources,
                                                                store::Catalog& catalog) {
  auto made = std::make_shared<admin::ConfigView>();
  for (const auto& [path, entry] : sources.by_name)
    admin::add_source_view(entry.source, made->sources);
  HAPAX_TRY(intern(from.destinations, catalog));
  for (const deliver::Destination& each : from.destinations) {
    made->destinations.push_back(destination_view(each));
    made->destinations.back().how = std::make_shared<const deliver::Destination>(each);
  }
  return std::shared_ptr<const admin::ConfigView>(std::move(made));
}

}  // namespace hapax::daemon
