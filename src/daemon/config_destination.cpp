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
using Words = std::string_view;
using Kind = Destination::Kind;

constexpr std::array<Words, 6> kBoth{"name", "kind", "retry", "on_dead", "lease", "horizon"};
constexpr std::array<Words, 8> kHttp{"url",  "secret",  "timeout", "concurrency",
                                     "rate", "refetch", "breaker", "allow_private"};
constexpr std::array<Words, 1> kPull{"max_abandons"};
constexpr std::array<Words, 4> kBreaker{"window", "share", "pause", "max_pause"};

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

void refuse_others(const Node& table, std::span<const Words> keys, std::string_view why,
                   Report& report) {
  for (const Words each : keys) {
    if (const Node* node = table.find(each)) report.problem(*node, why);
  }
}

void check_destination_keys(const Node& table, Kind kind, Report& report) {
  std::vector<Words> all(kBoth.begin(), kBoth.end());
  all.insert(all.end(), kHttp.begin(), kHttp.end());
  all.insert(all.end(), kPull.begin(), kPull.end());
  check_keys(table, {all}, report);
  if (kind == Kind::pull) {
    refuse_others(table, kHttp, "only valid for kind = \"http\"", report);
  } else {
    refuse_others(table, kPull, "only valid for kind = \"pull\"", report);
  }
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

std::optional<std::size_t> read_size(const Node& node, std::int64_t least, std::int64_t most,
                                     Report& report) {
  const std::optional<std::int64_t> number = read_number(node, least, most, report);
  return number ? std::optional(static_cast<std::size_t>(*number)) : std::nullopt;
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

std::optional<std::optional<BreakerLimits>> read_breaker(const Node& node, Report& report) {
  if (node.kind == Node::Kind::boolean && !node.boolean) return std::optional<BreakerLimits>();
  if (node.kind != Node::Kind::table) {
    report.problem(node,
                   "expected false or { window = 20, share = 0.5, pause = \"5s\", max_pause = "
                   "\"1m\" }, or leave it out");
    return std::nullopt;
  }
  check_keys(node, {kBreaker}, report);
  BreakerLimits limits;
  take(node, "window", limits.window, read_size, 2, 10'000, report);
  take(node, "share", limits.share, read_share, report);
  take(node, "pause", limits.pause, read_duration, milliseconds(1), report);
  limits.max_pause = std::max(limits.max_pause, limits.pause);
  take(node, "max_pause", limits.max_pause, read_duration, milliseconds(1), report);
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

void read_http(const Node& table, Destination& to, Loading& loading) {
  Report& report = loading.report;
  if (table.find("url") == nullptr) {
    report.problem_of(table, "url",
                      "required; for example \"http://127.0.0.1:3000/webhooks\"; or use kind = "
                      "\"pull\" for workers");
  }
  take(table, "url", to.url, read_url, loading);
  take(table, "secret", to.secret, read_signing_secret, loading);
  take(table, "timeout", to.timeout, read_timeout, report);
  take(table, "concurrency", to.concurrency, read_size, 1, kMaxConcurrency, report);
  take(table, "rate", to.rate, read_rate, report);
  take(table, "refetch", to.refetch, read_refetch, report);
  take(table, "breaker", to.breaker, read_breaker, report);
  take(table, "allow_private", to.allow_private, read_flag, report);
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
  take(table, "retry", to.retry, read_retry, report);
  take(table, "on_dead", to.on_dead, read_on_dead, report);
  take(table, "lease", to.lease, read_duration, milliseconds(seconds(1)), report);
  take(table, "horizon", to.horizon, read_duration, milliseconds(seconds(1)), report);
  if (to.kind == Kind::pull) {
    std::size_t abandons = to.max_abandons;
    take(table, "max_abandons", abandons, read_size, 1, 1000, report);
    to.max_abandons = static_cast<unsigned>(abandons);
  }
  check_lease(table, to, report);
  check_horizon(table, to, report);
  return to;
}

}  // namespace hapax::daemon
