// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "daemon/listening.hpp"

#include "base/try.hpp"

#include <algorithm>

namespace hapax::daemon {

namespace {

bool same(const std::vector<Listening::Registration>& had,
          const std::vector<deliver::Listener>& found) {
  return std::equal(had.begin(), had.end(), found.begin(), found.end(),
                    [](const Listening::Registration& a, const deliver::Listener& b) {
                      return a.listener.name == b.name && a.listener.sources == b.sources;
                    });
}

// The configured destinations and the subscribed listeners.
std::shared_ptr<const gateway::RoutingTable> targets_of(
    const gateway::Source& source, const std::vector<Listening::Registration>& listening) {
  auto targets = std::make_shared<gateway::RoutingTable>();
  const auto has = [&targets](DestinationNo no) {
    return std::any_of(targets->begin(), targets->end(),
                       [&](const store::Target& each) { return each.to == no; });
  };
  for (const store::Target& each : *source.routing->current()) {
    if (!each.listen) targets->push_back(each);
  }
  for (const Listening::Registration& each : listening) {
    const bool room = targets->size() < store::kMaxTargets;
    if (room && each.listener.subscribes_to(source.name) && !has(each.no)) {
      targets->push_back({.to = each.no, .listen = true});
    }
  }
  return targets;
}

}  // namespace

Result<bool> Listening::refresh() {
  HAPAX_TRY_ASSIGN(found, listeners_.all());
  if (same(all_, found)) return false;
  std::vector<Registration> next;
  for (const deliver::Listener& each : found) {
    HAPAX_TRY_ASSIGN(no, catalog_.number_of(store::NameKind::destination, each.name));
    next.push_back({each, DestinationNo(no)});
  }
  all_ = std::move(next);
  return true;
}

std::shared_ptr<const admin::ConfigView> Listening::with_listeners(
    const admin::ConfigView& view, const gateway::Sources& sources) const {
  auto next = std::make_shared<admin::ConfigView>(view);
  std::erase_if(next->destinations, [](const auto& each) { return each.listen; });
  std::vector<Registration> active = all_;
  std::erase_if(active, [&](const Registration& each) {  // its name is configured now
    return std::any_of(next->destinations.begin(), next->destinations.end(),
                       [&](const auto& other) { return other.no == each.no; });
  });
  for (const auto& [path, entry] : sources.by_name) {
    entry.source.routing->publish(targets_of(entry.source, active));
  }
  for (const Registration& each : active) {
    auto how = std::make_shared<deliver::Destination>(deliver::destination_of(each.listener));
    how->no = each.no;
    next->destinations.push_back(
        {.name = each.listener.name, .kind = "pull", .no = each.no, .how = how, .listen = true});
  }
  return next;
}

void Listening::drop_old(const std::shared_ptr<const admin::ConfigView>& view) {
  constexpr std::chrono::minutes kAgain{10};
  if (view == dropped_for_ && clock_.since_boot() < dropped_old_ + kAgain) return;
  const auto configured = [&](std::string_view name) {
    return std::any_of(view->destinations.begin(), view->destinations.end(),
                       [&](const auto& each) { return each.name == name && !each.listen; });
  };
  Result<std::vector<std::string>> unreadable = listeners_.drop_old(configured);
  if (unreadable) {
    log_unreadable(*std::move(unreadable));
  } else {
    log_.line(Level::warning, "expired listeners not removed",
              {{"error", unreadable.error().to_string()}});
  }
  dropped_old_ = clock_.since_boot();
  dropped_for_ = view;
}

// Once for each name: the registrations stay until they are renewed or ended.
void Listening::log_unreadable(std::vector<std::string> names) {
  for (const std::string& each : names) {
    if (std::find(unreadable_.begin(), unreadable_.end(), each) != unreadable_.end()) continue;
    log_.line(Level::warning, "listener not readable by this version",
              {{"name", each},
               {"detail",
                "this node makes no deliveries for it; upgrade the node, or end the "
                "listener with 'hapax listen --name NAME --end'"}});
  }
  unreadable_ = std::move(names);
}

}  // namespace hapax::daemon
