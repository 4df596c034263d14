// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "daemon/config_source.hpp"

#include "verify/schemes.hpp"

#include <algorithm>
#include <array>

namespace hapax::daemon {

namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMaxAckBody = 64 * 1024;
constexpr std::size_t kMaxContentType = 256;

constexpr std::array<std::string_view, 23> kKnown{
    "name",        "preset",     "verify",    "secrets", "key_id",         "parameters",
    "id",          "type",       "order_key", "version", "split",          "ack",
    "id_fallback", "split_max",  "remember",  "keep",    "sender_retries", "keep_dead",
    "max_body",    "deliver_to", "tenant",    "enforce", "topics"};

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
      report.problem(*id, "an id has at most " + std::to_string(kMaxIdParts) + " parts");
      return;
    }
    for (std::size_t i = 0; i < parts.size(); ++i) rule.id[i] = parts[i]->text;
  } else if (table.find("id_fallback") != nullptr && rule.id[0] == "none") {
    rule.id = {};  // the preset has no id; id_fallback takes its place
  }
}

// If the rule splits, `of_item` becomes the same rule without splitting.
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
  take_tenant_place(table, way, rule.tenant, report);
  std::int64_t split_max = static_cast<std::int64_t>(rule.split_max);
  // All events of a request must fit into one item of the store.
  constexpr auto kMost = static_cast<std::int64_t>(store::kMaxArrivals);
  take(table, "split_max", split_max, read_number, 1, kMost, report);
  rule.split_max = static_cast<std::size_t>(split_max);
  if (table.find("split_max") != nullptr && rule.split.empty()) {
    report.problem_of(table, "split_max", "only valid with split; add split = \"json:/*\" too");
  }
  if (table.find("version") != nullptr && rule.order_key.empty()) {
    report.problem_of(table, "version", "versions are compared within an order key; add order_key");
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
    report.problem_of(
        table, table.find("remember") != nullptr ? "remember" : "keep",
        "an id must be remembered at least as long as its event is kept; use remember = "
        "\"" +
            in_words(spans.keep) + "\" or more, or a shorter keep than \"" + in_words(spans.keep) +
            "\"");
  }
  milliseconds retries{0};
  if (way.preset != nullptr) retries = way.preset->sender_retries;
  take(table, "sender_retries", retries, read_duration, milliseconds(0), report);
  spans.sender_retries = retries;
  if (spans.remember == retries && retries > milliseconds(0)) {
    const Node* const at = table.find("remember");
    report.warning(
        at != nullptr ? *at : table,
        "remember equals sender_retries, so rejects cannot be re-admitted; use a longer remember");
  }
  if (spans.remember >= retries) return;
  const bool told = table.find("sender_retries") != nullptr;
  report.problem_of(table, table.find("remember") != nullptr ? "remember" : "sender_retries",
                    "the sender retries for " + in_words(retries) + (told ? "" : " (preset)") +
                        "; a retry after the id expires would be a new event; use remember = \"" +
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

std::optional<gateway::AckResponse> read_ack(const Node& node, Report& report) {
  if (!is_table(node, report)) return std::nullopt;
  static constexpr std::array<std::string_view, 3> kKeys{"status", "body", "content_type"};
  check_keys(node, {kKeys}, report);
  gateway::AckResponse ack;
  std::int64_t status = ack.status;
  take(node, "status", status, read_number, 200, 299, report);
  ack.status = static_cast<int>(status);
  if (const Node* body = node.find("body"); body != nullptr && body->kind == Node::Kind::text) {
    ack.body = body->text;  // may be empty
  } else {
    take(node, "body", ack.body, read_text, report);
  }
  take(node, "content_type", ack.content_type, read_text, report);
  if ((ack.status == 204 || ack.status == 205) && !ack.body.empty()) {
    report.problem_of(node, "body",
                      "a response with status " + std::to_string(ack.status) +
                          " has no body; remove it, or use status = 200");
  }
  if (ack.body.size() > kMaxAckBody) report.problem_of(node, "body", "at most 64 KiB");
  const auto visible = [](char c) { return c >= 0x20 && c < 0x7f; };
  if (ack.content_type.size() > kMaxContentType ||
      !std::all_of(ack.content_type.begin(), ack.content_type.end(), visible)) {
    report.problem_of(node, "content_type",
                      "not a media type; use one like "
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
    report.problem(*node, "one source delivers to at most " + std::to_string(store::kMaxTargets) +
                              " destinations; these are " + std::to_string(texts.size()));
    return names;
  }
  const auto& known = around.destinations;
  for (const Node* each : texts) {
    if (std::find(names.begin(), names.end(), each->text) != names.end()) {
      report.problem(*each, in_quotes(each->text) + " occurs twice; remove one");
    } else if (std::find(known.begin(), known.end(), each->text) == known.end()) {
      const std::vector<std::string_view> candidates(known.begin(), known.end());
      const std::string_view meant = nearest(each->text, candidates);
      report.problem(*each, "unknown destination " + in_quotes(each->text) +
                                (meant.empty() ? "; add a [[destination]] of that name"
                                               : "; did you mean '" + std::string(meant) + "'?"));
    }
    names.push_back(each->text);
  }
  return names;
}

// Headers that contain the secret itself.
std::vector<std::string> secret_headers(const Scheme& scheme) {
  constexpr std::string_view kHeader = "header:";
  const std::string_view at = scheme.signatures[0].at;
  if (scheme.algorithm == Algorithm::basic) return {"authorization"};
  if (scheme.algorithm != Algorithm::token || !at.starts_with(kHeader)) return {};
  return {std::string(at.substr(kHeader.size()))};
}

// The settings that all tenants of a source share.
struct Common {
  const Node& table;
  Way way;
  Spans spans;
  std::optional<gateway::AckResponse> ack;
  std::vector<std::string> deliver_to;
  std::size_t max_body = 0;
  bool enforce = true;
};

Common read_common(const Node& table, const Way& way, const Surroundings& around, Report& report) {
  Common common{table, way, read_spans(table, way, report), {}, {}, around.max_body};
  if (const Node* node = table.find("ack")) common.ack = read_ack(*node, report);
  common.deliver_to = read_destinations(table, around, report);
  take(table, "max_body", common.max_body, read_body_limit, report);
  take(table, "enforce", common.enforce, read_flag, report);
  if (!common.enforce) {
    report.warning(*table.find("enforce"),
                   "observe mode: forged and duplicate requests are delivered, marked with "
                   "`would`; set enforce = true when ready");
  }
  return common;
}

// The source itself (no tenant) or a declared tenant, which has its own path and secrets. The path
// is not signed, so only the secrets distinguish tenants.
struct Sender {
  std::string tenant;
  Signing signing;
};

std::vector<Sender> read_senders(const Node& table, const std::optional<Way>& way,
                                 const KeyContext& context, Loading& loading) {
  Report& report = loading.report;
  std::vector<Sender> senders;
  const std::vector<DeclaredTenant> tenants = read_tenants(table, report);
  const Node* declared = table.find("tenant");
  const bool any = declared != nullptr && declared->kind == Node::Kind::list;
  if (!any || table.find("secrets") != nullptr) {
    senders.push_back({"", read_signing(table, way, context, loading)});
  }
  const bool is_signed = way && way->scheme.algorithm != Algorithm::none;
  for (const DeclaredTenant& each : tenants) {
    if (way && !is_signed) {
      report.problem(*each.table,
                     "the path is not signed, and with verify = \"none\" tenants could not be "
                     "distinguished; configure how requests are signed");
      continue;
    }
    senders.push_back({each.name, read_signing(*each.table, way, context, loading)});
  }
  std::vector<const Signing*> signings;
  signings.reserve(senders.size());
  for (const Sender& each : senders) signings.push_back(&each.signing);
  check_own_secrets(signings, way ? way->scheme : Scheme{}, report);
  return senders;
}

std::optional<gateway::Source> make_source(Sender sender, const Common& common,
                                           const KeyContext& context) {
  std::optional<Identifier> of_item;
  Report said_already("");
  std::optional<Identifier> identifier =
      make_identifier(common.table, common.way, of_item, said_already);
  if (!identifier || !sender.signing.verifier) return std::nullopt;
  const bool splits = of_item.has_value();
  gateway::Source source{.name = {},
                         .tenant = std::move(sender.tenant),
                         .preset = common.way.preset,
                         .secrets = {},
                         .key_id = context.key_id,
                         .parameters = context.parameters,
                         .verifier = std::move(*sender.signing.verifier),
                         .identifier = std::move(*identifier),
                         .splits = splits,
                         .enforce = common.enforce,
                         .secret_headers = secret_headers(common.way.scheme),
                         .remember = common.spans.remember,
                         .keep = common.spans.keep,
                         .keep_dead = common.spans.keep_dead,
                         .max_body = common.max_body,
                         .ack = common.ack,
                         .deliver_to = common.deliver_to,
                         .scheme = gateway::own_scheme(common.way.scheme),
                         .sender_retries = common.spans.sender_retries,
                         .item_identifier = std::move(of_item),
                         .no = {}};
  source.verifier.limit_inflated(common.max_body);
  for (SecretEntry& each : sender.signing.secrets) source.secrets.push_back(std::move(*each.text));
  return source;
}

}  // namespace

std::vector<gateway::Source> read_source(const Node& table, const Surroundings& around,
                                         Loading& loading) {
  Report& report = loading.report;
  const std::size_t before = report.count();
  check_keys(table, {kKnown}, report);
  std::deque<std::string> kept;
  const std::optional<Way> way = read_way(table, kept, report);
  const Way any = way.value_or(Way{});
  const KeyContext context = read_key_context(table, way, report);
  std::vector<Sender> senders = read_senders(table, way, context, loading);
  if (way && verify_detail::needs_url(way->scheme) && !around.has_public_url) {
    report.problem(*way->at,
                   "the scheme signs the URL that the sender calls; set public_url = "
                   "\"https://your.host\" in [server]");
  }
  std::optional<Identifier> of_item;
  // The preset defines which keys are optional, so an unknown preset prevents this check.
  if (way || table.find("preset") == nullptr) make_identifier(table, any, of_item, report);
  const Common common = read_common(table, any, around, report);
  std::vector<gateway::Source> sources;
  if (report.count() != before || !way) return sources;
  for (Sender& each : senders) {
    std::optional<gateway::Source> made = make_source(std::move(each), common, context);
    if (made) sources.push_back(std::move(*made));
  }
  return sources;
}

}  // namespace hapax::daemon
