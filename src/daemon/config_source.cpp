// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "daemon/config_source.hpp"

#include <algorithm>
#include <array>

namespace hapax::daemon {

namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMaxAckBody = 64 * 1024;
constexpr std::size_t kMaxContentType = 256;

constexpr std::array<std::string_view, 20> kKnown{
    "name",     "preset",    "verify",         "secrets",   "key_id",   "parameters",  "id",
    "type",     "order_key", "version",        "split",     "ack",      "id_fallback", "split_max",
    "remember", "keep",      "sender_retries", "keep_dead", "max_body", "deliver_to"};
constexpr std::array<std::string_view, 4> kLater{"tenant", "enforce", "topics", "handshake"};

bool needs_url(const Scheme& scheme) {
  return !scheme.jwt.url_claim.empty() ||
         std::any_of(scheme.messages.begin(), scheme.messages.end(), [](std::string_view text) {
           return text.find("{url") != std::string_view::npos;
         });
}

void take_rule(const Node& table, std::string_view key, std::string_view& into, Report& report) {
  const Node* node = table.find(key);
  if (node != nullptr && read_text(*node, report)) into = node->text;
}

void read_id(const Node& table, IdentityRule& rule, Report& report) {
  const Node* id = table.find("id");
  if (id != nullptr) {
    const std::vector<const Node*> parts = read_texts(*id, true, report);
    rule.id = {};
    if (parts.size() > kMaxIdParts) {
      report.problem(*id, "an id has " + std::to_string(kMaxIdParts) + " parts at most");
      return;
    }
    for (std::size_t i = 0; i < parts.size(); ++i) rule.id[i] = parts[i]->text;
  } else if (table.find("id_fallback") != nullptr && rule.id[0] == "none") {
    rule.id = {};  // the preset knows no id, and the file knows what to take in its place
  }
}

// Where the rule splits, `of_item` is the same without that.
std::optional<Identifier> make_identifier(const Node& table, const Way& way,
                                          std::optional<Identifier>& of_item, Report& report) {
  const std::size_t before = report.count();
  IdentityRule rule = way.preset != nullptr ? way.preset->identity : IdentityRule{};
  read_id(table, rule, report);
  take_rule(table, "id_fallback", rule.id_fallback, report);
  take_rule(table, "type", rule.type, report);
  take_rule(table, "order_key", rule.order_key, report);
  take_rule(table, "version", rule.version, report);
  take_rule(table, "split", rule.split, report);
  std::int64_t split_max = static_cast<std::int64_t>(rule.split_max);
  // What one request may carry has to fit into one item of the store.
  constexpr auto kMost = static_cast<std::int64_t>(store::kMaxArrivals);
  take(table, "split_max", split_max, read_number, 1, kMost, report);
  rule.split_max = static_cast<std::size_t>(split_max);
  if (table.find("split_max") != nullptr && rule.split.empty()) {
    report.problem_of(table, "split_max", "nothing is split; write split = \"json:/*\" too");
  }
  if (table.find("version") != nullptr && rule.order_key.empty()) {
    report.problem_of(table, "version",
                      "versions are compared within an order key; write "
                      "order_key too");
  }
  if (report.count() != before) return std::nullopt;
  Result<Identifier> made = Identifier::make(rule);
  if (made && !rule.split.empty()) {
    rule.split = {};
    of_item.emplace(std::move(Identifier::make(rule)).value());
  }
  if (made) return std::move(*made);
  const std::string& detail = made.error().detail();
  const std::size_t colon = std::min(detail.find(": "), detail.size());
  report.problem_of(table, detail.substr(0, colon),
                    detail.substr(std::min(colon + 2, detail.size())));
  return std::nullopt;
}

struct Spans {
  milliseconds remember = kDefaultTtl;
  milliseconds keep = kDefaultTtl;
  milliseconds keep_dead = kDefaultTtl;
  milliseconds sender_retries{0};
};

void check_spans(const Node& table, const Way& way, Spans& spans, Report& report) {
  if (spans.remember < spans.keep) {
    report.problem_of(table, table.find("remember") != nullptr ? "remember" : "keep",
                      "an id must be remembered for as long as its event is kept; write remember = "
                      "\"" +
                          in_words(spans.keep) + "\" or more, or a shorter keep than \"" +
                          in_words(spans.keep) + "\"");
  }
  milliseconds retries{0};
  if (way.preset != nullptr) retries = way.preset->sender_retries;
  take(table, "sender_retries", retries, read_duration, milliseconds(0), report);
  spans.sender_retries = retries;
  if (spans.remember >= retries) return;
  const bool told = table.find("sender_retries") != nullptr;
  report.problem_of(table, table.find("remember") != nullptr ? "remember" : "sender_retries",
                    "the sender tries for " + in_words(retries) +
                        (told ? "" : " (the preset says so)") +
                        ", and a retry after the id is forgotten would be a new event; write "
                        "remember = \"" +
                        in_words(retries) + "\" or more");
}

Spans read_spans(const Node& table, const Way& way, Report& report) {
  const std::size_t before = report.count();
  Spans spans;
  if (way.preset != nullptr) spans.remember = way.preset->remember;
  take(table, "remember", spans.remember, read_duration, milliseconds(1), report);
  spans.keep = std::min(spans.keep, spans.remember);
  take(table, "keep", spans.keep, read_duration, milliseconds(0), report);
  take(table, "keep_dead", spans.keep_dead, read_duration, milliseconds(0), report);
  if (report.count() == before) check_spans(table, way, spans, report);
  return spans;
}

std::optional<gateway::Ack> read_ack(const Node& node, Report& report) {
  if (!is_table(node, report)) return std::nullopt;
  static constexpr std::array<std::string_view, 3> kKeys{"status", "body", "content_type"};
  check_keys(node, {kKeys}, report);
  gateway::Ack ack;
  std::int64_t status = ack.status;
  take(node, "status", status, read_number, 200, 299, report);
  ack.status = static_cast<int>(status);
  if (const Node* body = node.find("body"); body != nullptr && body->kind == Node::Kind::text) {
    ack.body = body->text;  // an empty one is an answer too
  } else {
    take(node, "body", ack.body, read_text, report);
  }
  take(node, "content_type", ack.content_type, read_text, report);
  if ((ack.status == 204 || ack.status == 205) && !ack.body.empty()) {
    report.problem_of(node, "body",
                      "an answer " + std::to_string(ack.status) +
                          " has no body; leave it out, or write status = 200");
  }
  if (ack.body.size() > kMaxAckBody) report.problem_of(node, "body", "64 KiB are the most");
  const auto visible = [](char c) { return c >= 0x20 && c < 0x7f; };
  if (ack.content_type.size() > kMaxContentType ||
      !std::all_of(ack.content_type.begin(), ack.content_type.end(), visible)) {
    report.problem_of(node, "content_type",
                      "this is no media type; write one, like "
                      "\"text/plain\"");
  }
  return ack;
}

std::vector<std::string> read_destinations(const Node& table, const Surroundings& around,
                                           Report& report) {
  std::vector<std::string> names;
  const Node* node = table.find("deliver_to");
  if (node == nullptr) return names;
  const std::vector<const Node*> texts = read_texts(*node, false, report);
  if (texts.size() > store::kMaxTargets) {
    report.problem(*node, "one source delivers to " + std::to_string(store::kMaxTargets) +
                              " destinations at most; these are " + std::to_string(texts.size()));
    return names;
  }
  const auto& known = around.destinations;
  for (const Node* each : texts) {
    if (std::find(names.begin(), names.end(), each->text) != names.end()) {
      report.problem(*each, in_quotes(each->text) + " is there twice; leave one out");
    } else if (std::find(known.begin(), known.end(), each->text) == known.end()) {
      const std::vector<std::string_view> candidates(known.begin(), known.end());
      const std::string_view meant = nearest(each->text, candidates);
      report.problem(*each, "there is no destination " + in_quotes(each->text) +
                                (meant.empty() ? "; write a [[destination]] of that name"
                                               : "; did you mean '" + std::string(meant) + "'?"));
    }
    names.push_back(each->text);
  }
  return names;
}

// Headers that hold the secret itself.
std::vector<std::string> secret_headers(const Scheme& scheme) {
  constexpr std::string_view kHeader = "header:";
  const std::string_view at = scheme.signatures[0].at;
  if (scheme.algorithm == Algorithm::basic) return {"authorization"};
  if (scheme.algorithm != Algorithm::token || !at.starts_with(kHeader)) return {};
  return {std::string(at.substr(kHeader.size()))};
}

}  // namespace

std::optional<gateway::Source> read_source(const Node& table, const Surroundings& around,
                                           Loading& loading) {
  Report& report = loading.report;
  const std::size_t before = report.count();
  check_keys(table, {kKnown, kLater}, report);
  std::deque<std::string> kept;
  const std::optional<Way> way = read_way(table, kept, report);
  const Way any = way.value_or(Way{});
  Signing signing = read_signing(table, way, loading);
  if (way && needs_url(way->scheme) && !around.has_public_url) {
    report.problem(*way->at,
                   "the URL that the sender calls is signed, and hapax must know it; "
                   "write public_url = \"https://your.host\" in [server]");
  }
  std::optional<Identifier> of_item;
  std::optional<Identifier> identifier;
  // Without a known preset it is not known what the file may leave out.
  if (way || table.find("preset") == nullptr) {
    identifier = make_identifier(table, any, of_item, report);
  }
  const Spans spans = read_spans(table, any, report);
  std::optional<gateway::Ack> ack;
  if (const Node* node = table.find("ack")) ack = read_ack(*node, report);
  std::vector<std::string> deliver_to = read_destinations(table, around, report);
  std::size_t max_body = around.max_body;
  take(table, "max_body", max_body, read_body_limit, report);
  if (report.count() != before || !way || !signing.verifier || !identifier) return std::nullopt;
  gateway::Source source{.name = {},
                         .preset = way->preset,
                         .secrets = {},
                         .key_id = std::move(signing.key_id),
                         .parameters = std::move(signing.parameters),
                         .verifier = std::move(*signing.verifier),
                         .identifier = std::move(*identifier),
                         .splits = of_item.has_value(),
                         .secret_headers = secret_headers(way->scheme),
                         .remember = spans.remember,
                         .keep = spans.keep,
                         .keep_dead = spans.keep_dead,
                         .max_body = max_body,
                         .ack = std::move(ack),
                         .deliver_to = std::move(deliver_to),
                         .scheme = gateway::own_scheme(way->scheme),
                         .sender_retries = spans.sender_retries,
                         .item_identifier = std::move(of_item),
                         .no = {},
                         .targets = {}};
  for (SecretEntry& each : signing.secrets) source.secrets.push_back(std::move(*each.text));
  return source;
}

}  // namespace hapax::daemon
