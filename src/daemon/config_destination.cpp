// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "daemon/config_destination.hpp"

#include "base/base64.hpp"
#include "deliver/classify_response.hpp"
#include "deliver/refetch.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace hapax::daemon {

namespace {

using deliver::BreakerLimits;
using deliver::Destination;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Kind = Destination::Kind;

constexpr milliseconds kLeastTimeout{100};
constexpr milliseconds kMostTimeout = std::chrono::hours(1);
constexpr milliseconds kTimeToSettle = seconds(10);  // lease time after the longest attempt
constexpr std::size_t kMaxRetries = 100;
constexpr std::int64_t kMaxRate = 1'000'000;
constexpr std::int64_t kMaxConcurrency = 1000;
constexpr std::string_view kSecretPrefix = "whsec_";

Kind read_kind(const Node& table, Report& report) {
  const Node* node = table.find("kind");
  if (node == nullptr) return Kind::http;
  const std::string word = node->kind == Node::Kind::text ? node->text : "";
  if (word == "http") return Kind::http;
  if (word == "pull") return Kind::pull;
  report.problem(*node, word == "sql"
                            ? "'sql' is not available in this version; use kind = \"pull\""
                            : "unknown kind; use kind = \"http\" or \"pull\"");
  return table.find("url") != nullptr ? Kind::http : Kind::pull;  // the likely intention
}

// The query may contain a secret, so the URL can be written like one. User info is rejected; the
// problem then does not quote the URL.
std::optional<http::Url> read_url(const Node& node, Loading& loading) {
  const bool before = loading.plain_secrets;
  const std::optional<std::string> text = read_secret(node, loading);
  loading.plain_secrets = before;
  if (!text) return std::nullopt;
  if (text->find('@') < std::min(text->find_first_of("/?#", 8), text->size())) {
    loading.report.problem(node,
                           "user info in URLs is not supported; sign deliveries with secret = ...");
    return std::nullopt;
  }
  const Result<http::Url> url = http::parse_url(*text);
  if (url && text->find('#') == std::string::npos) return *url;
  loading.report.problem(node, (node.kind == Node::Kind::text ? in_quotes(*text) : "this") +
                                   " is not a URL to post to; use "
                                   "\"http://127.0.0.1:3000/webhooks\", or https://...");
  return std::nullopt;
}

std::optional<std::string> read_signing_secret(const Node& node, Loading& loading) {
  std::optional<std::string> secret = read_secret(node, loading);
  if (!secret || !secret->starts_with(kSecretPrefix)) return secret;
  const auto key = from_base64(std::string_view(*secret).substr(kSecretPrefix.size()));
  if (key && !key->empty()) return secret;
  loading.report.problem(node,
                         "the part after whsec_ is not base64; copy the whole secret, or use one "
                         "without whsec_, which is used as text");
  return std::nullopt;
}

std::optional<milliseconds> read_timeout(const Node& node, Report& report) {
  const std::optional<milliseconds> timeout = read_duration(node, kLeastTimeout, report);
  if (!timeout || *timeout <= kMostTimeout) return timeout;
  report.problem(node,
                 in_quotes(node.text) + " is too long; at most \"" + in_words(kMostTimeout) + "\"");
  return std::nullopt;
}

// "100/s"
std::optional<double> read_rate(const Node& node, Report& report) {
  const std::string& text = node.text;
  std::int64_t count = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, count);
  const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  const double span = unit == "/s" ? 1 : unit == "/m" ? 60 : unit == "/h" ? 3600 : 0;
  if (node.kind == Node::Kind::text && failure == std::errc() && count >= 1 && count <= kMaxRate &&
      span > 0) {
    return static_cast<double>(count) / span;
  }
  report.problem(node,
                 "this is not a rate; write a whole number of attempts per second, minute or hour, "
                 "like \"100/s\", \"10/m\" or \"5/h\"");
  return std::nullopt;
}

std::optional<std::vector<milliseconds>> read_retry(const Node& node, Report& report) {
  if (node.kind != Node::Kind::list || node.children.size() > kMaxRetries) {
    report.problem(node, "expected a list of durations, one per retry, " +
                             std::to_string(kMaxRetries) +
                             R"( at most: ["1s", "5s", "30s", "5m"])");
    return std::nullopt;
  }
  std::vector<milliseconds> retry;
  for (const Node& each : node.children) {
    if (const auto delay = read_duration(each, milliseconds(1), report)) retry.push_back(*delay);
  }
  return retry;
}

std::optional<OnDead> read_on_dead(const Node& node, Report& report) {
  if (node.kind == Node::Kind::text && node.text == "skip") return OnDead::skip;
  if (node.kind == Node::Kind::text && node.text == "block") return OnDead::block;
  report.problem(
      node, "expected \"skip\" (the lane continues) or \"block\" (the lane waits for an operator)");
  return std::nullopt;
}

std::optional<double> read_share(const Node& node, Report& report) {
  const bool one = node.kind == Node::Kind::integer && node.integer == 1;
  if (one) return 1.0;
  if (node.fraction && *node.fraction > 0 && *node.fraction <= 1) return node.fraction;
  report.problem(
      node, "expected the failure share that opens the breaker, above 0 and up to 1, like 0.5");
  return std::nullopt;
}

// A longer pause than the default maximum raises the maximum.
void read_pause(const Node& node, BreakerLimits& limits, Loading& loading) {
  set<&BreakerLimits::pause, read_duration_from<1>>(node, limits, loading);
  limits.max_pause = std::max(limits.max_pause, limits.pause);
}

constexpr auto kBreakerKeys = std::to_array<Key<BreakerLimits>>({
    {"window", set<&BreakerLimits::window, read_between<std::size_t, 2, 10'000>>},
    {"share", set<&BreakerLimits::share, read_share>},
    {"pause", read_pause},
    {"max_pause", set<&BreakerLimits::max_pause, read_duration_from<1>>},
});

std::optional<std::optional<BreakerLimits>> read_breaker(const Node& node, Loading& loading) {
  Report& report = loading.report;
  if (node.kind == Node::Kind::boolean && !node.boolean) return std::optional<BreakerLimits>();
  if (node.kind != Node::Kind::table) {
    report.problem(node,
                   "expected false or { window = 20, share = 0.5, pause = \"5s\", max_pause = "
                   "\"1m\" }, or leave it out");
    return std::nullopt;
  }
  check_keys(node, {key_names(kBreakerKeys)}, report);
  BreakerLimits limits;
  read_keys(node, kBreakerKeys, limits, loading);
  if (limits.max_pause < limits.pause) {
    report.problem_of(node, "max_pause",
                      "this is below pause; write \"" + in_words(limits.pause) + "\" or more");
  }
  return std::optional(limits);
}

std::optional<std::string> read_refetch(const Node& node, Report& report) {
  std::optional<std::string> text = read_text(node, report);
  if (!text) return std::nullopt;
  const Result<deliver::Refetch> refetch = deliver::Refetch::parse(*text);
  if (refetch) return text;
  report.problem(node, refetch.error().detail());
  return std::nullopt;
}

// name and kind are read before the others.
constexpr auto kKeysOfBoth = std::to_array<Key<Destination>>({
    {"name"},
    {"kind"},
    {"retry", set<&Destination::retry, read_retry>},
    {"on_dead", set<&Destination::on_dead, read_on_dead>},
    {"lease", set<&Destination::lease, read_duration_from<1000>>},
    {"horizon", set<&Destination::horizon, read_duration_from<1000>>},
});

constexpr auto kHttpKeys = std::to_array<Key<Destination>>({
    {"url", set<&Destination::url, read_url>},
    {"secret", set<&Destination::secret, read_signing_secret>},
    {"timeout", set<&Destination::timeout, read_timeout>},
    {"concurrency", set<&Destination::concurrency, read_between<std::size_t, 1, kMaxConcurrency>>},
    {"rate", set<&Destination::rate, read_rate>},
    {"refetch", set<&Destination::refetch, read_refetch>},
    {"breaker", set<&Destination::breaker, read_breaker>},
    {"allow_private", set<&Destination::allow_private, read_flag>},
});

constexpr auto kPullKeys = std::to_array<Key<Destination>>({
    {"max_abandons", set<&Destination::max_abandons, read_between<unsigned, 1, 1000>>},
});

void refuse_others(const Node& table, std::span<const Key<Destination>> keys, std::string_view why,
                   Report& report) {
  for (const Key<Destination>& each : keys) {
    if (const Node* node = table.find(each.name)) report.problem(*node, why);
  }
}

void check_destination_keys(const Node& table, Kind kind, Report& report) {
  check_keys(table, {key_names(kKeysOfBoth, kHttpKeys, kPullKeys)}, report);
  if (kind == Kind::pull) {
    refuse_others(table, kHttpKeys, "only valid for kind = \"http\"", report);
  } else {
    refuse_others(table, kPullKeys, "only valid for kind = \"pull\"", report);
  }
}

void read_http(const Node& table, Destination& to, Loading& loading) {
  if (table.find("url") == nullptr) {
    loading.report.problem_of(
        table, "url",
        "required; for example \"http://127.0.0.1:3000/webhooks\"; or use kind = "
        "\"pull\" for workers");
  }
  read_keys(table, kHttpKeys, to, loading);
  to.lease = to.timeout + kTimeToSettle;
}

void check_lease(const Node& table, const Destination& to, Report& report) {
  if (to.kind != Kind::http || to.lease >= to.timeout + kTimeToSettle) return;
  report.problem_of(table, "lease",
                    "the lease must exceed the timeout, " + in_words(to.timeout) + ", by " +
                        in_words(kTimeToSettle) + "; use \"" +
                        in_words(to.timeout + kTimeToSettle) + "\" or more, or omit it");
}

// A receiver that has forgotten the key would process the last attempts as new deliveries.
void check_horizon(const Node& table, const Destination& to, Report& report) {
  if (to.horizon == milliseconds(0)) return;
  double all = 0;
  for (const milliseconds each : to.retry) all += static_cast<double>(each.count());
  const milliseconds longest(static_cast<std::int64_t>(all * (1 + deliver::kJitter)));
  if (longest <= to.horizon) return;
  report.problem_of(
      table, "horizon",
      "the retry schedule takes up to " +
          in_words(std::chrono::ceil<std::chrono::minutes>(longest)) +
          ", longer than the horizon; use a shorter retry = [...] or a longer horizon");
}

}  // namespace

Destination read_destination(const Node& table, Loading& loading) {
  Report& report = loading.report;
  Destination to;
  to.kind = read_kind(table, report);
  check_destination_keys(table, to.kind, report);
  if (to.kind == Kind::http) read_http(table, to, loading);
  to.retry = deliver::default_retry();
  read_keys(table, kKeysOfBoth, to, loading);
  if (to.kind == Kind::pull) read_keys(table, kPullKeys, to, loading);
  check_lease(table, to, report);
  check_horizon(table, to, report);
  return to;
}

}  // namespace hapax::daemon
