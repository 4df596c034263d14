// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "admin/routes.hpp"

#include "admin/api/resources.hpp"

#include <array>
#include <optional>

namespace hapax::admin {

namespace {

constexpr bool kOpen = false;
constexpr bool kToken = true;
constexpr bool kAtOnce = false;
constexpr bool kBlocks = true;

constexpr auto kRoutes = std::to_array<Route>({
    {"GET", "/v1/events", kToken, kBlocks, &list_events, Right::read},
    {"GET", "/v1/events/{event}", kToken, kBlocks, &show_event, Right::read},
    {"GET", "/v1/events/{event}/body", kToken, kBlocks, &send_body, Right::read},
    {"POST", "/v1/events/{event}/replay", kToken, kBlocks, &replay_event, Right::replay},
    {"POST", "/v1/deliveries/{delivery}/cancel", kToken, kBlocks, &cancel_delivery, Right::replay},
    {"POST", "/v1/replay", kToken, kBlocks, &begin_replay, Right::replay},
    {"GET", "/v1/replays", kToken, kBlocks, &list_replays, Right::read},
    {"GET", "/v1/replays/{replay}", kToken, kBlocks, &show_replay, Right::read},
    {"DELETE", "/v1/replays/{replay}", kToken, kBlocks, &cancel_replay, Right::replay},
    {"POST", "/v1/listen", kToken, kBlocks, &register_listener, Right::admin},
    {"DELETE", "/v1/listen/{name}", kToken, kBlocks, &end_listener, Right::admin},
    {"GET", "/v1/sources", kToken, kBlocks, &list_sources, Right::read},
    {"GET", "/v1/sources/{source}/handshake", kToken, kBlocks, &show_handshake, Right::read},
    {"POST", "/v1/sources/{source}/handshake", kToken, kBlocks, &open_handshake, Right::admin},
    {"GET", "/v1/destinations", kToken, kBlocks, &list_destinations, Right::read},
    {"POST", "/v1/destinations/{destination}/pause", kToken, kBlocks, &pause_destination,
     Right::replay},
    {"POST", "/v1/destinations/{destination}/resume", kToken, kBlocks, &resume_destination,
     Right::replay},
    {"GET", "/v1/stats", kToken, kBlocks, &show_stats, Right::read},
    {"GET", "/v1/rejects", kToken, kBlocks, &list_rejects, Right::read},
    {"POST", "/v1/rejects/admit", kToken, kBlocks, &admit_rejects, Right::admin},
    {"GET", "/v1/rejects/{reject}", kToken, kBlocks, &show_reject, Right::read},
    {"GET", "/v1/rejects/{reject}/body", kToken, kBlocks, &send_reject_body, Right::read},
    {"POST", "/v1/rejects/{reject}/admit", kToken, kBlocks, &admit_reject, Right::admin},
    {"POST", "/v1/dedup", kToken, kBlocks, &claim_id, Right::dedup},
    {"POST", "/v1/lease", kToken, kAtOnce, nullptr, Right::lease, &kLeaseDeliveries},
    {"POST", "/v1/settle", kToken, kBlocks, nullptr, Right::settle, &kSettleDeliveries},
    {"POST", "/v1/renew", kToken, kBlocks, nullptr, Right::lease, &kRenewLeases},
    {"GET", "/v1/openapi.json", kToken, kAtOnce, &show_openapi, Right::read},
    {"GET", "/healthz", kOpen, kAtOnce, &show_health},
    {"GET", "/readyz", kOpen, kBlocks, &show_readiness},
    {"GET", "/metrics", kOpen, kAtOnce, &show_metrics},
});

// The value of the pattern's {name}, empty without one; nullopt if the path does not match.
std::optional<std::string_view> fits(std::string_view pattern, std::string_view path) {
  const std::size_t open = pattern.find('{');
  if (open == std::string_view::npos) {
    return pattern == path ? std::optional(std::string_view()) : std::nullopt;
  }
  const std::string_view before = pattern.substr(0, open);
  const std::string_view after = pattern.substr(pattern.find('}') + 1);
  if (path.size() <= before.size() + after.size()) return std::nullopt;
  if (!path.starts_with(before) || !path.ends_with(after)) return std::nullopt;
  path.remove_prefix(before.size());
  path.remove_suffix(after.size());
  return path.find('/') == std::string_view::npos ? std::optional(path) : std::nullopt;
}

}  // namespace

std::span<const Route> routes() {
  return kRoutes;
}

Right right_of(const Route& route) {
  if (route.right != Right::unsaid) return route.right;
  return route.method == "GET" ? Right::read : Right::admin;
}

std::variant<Match, NoSuchPath, WrongMethod> find_route(std::string_view method,
                                                        std::string_view path) {
  const std::string_view wanted = method == "HEAD" ? "GET" : method;
  std::string allow;
  for (const Route& each : kRoutes) {
    const std::optional<std::string_view> argument = fits(each.pattern, path);
    if (!argument) continue;
    if (each.method == wanted) return Match{{}, &each, std::string(*argument)};
    allow += allow.empty() ? "" : ", ";
    allow += each.method == "GET" ? "GET, HEAD" : each.method;
  }
  if (allow.empty()) return NoSuchPath();
  return WrongMethod{allow};
}

}  // namespace hapax::admin
