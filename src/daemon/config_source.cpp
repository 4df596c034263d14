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

// A view of the text, which the tree holds.
std::optional<std::string_view> read_rule(const Node& node, Report& report) {
  return read_text(node, report) ? std::optional<std::string_view>(node.text) : std::nullopt;
}

constexpr auto kRuleKeys = std::to_array<Key<IdentityRule>>({
    {"id"},  // read_id()
    {"id_fallback", set<&IdentityRule::id_fallback, read_rule>},
    {"type", set<&IdentityRule::type, read_rule>},
    {"order_key", set<&IdentityRule::order_key, read_rule>},
    {"version", set<&IdentityRule::version, read_rule>},
    {"split", set<&IdentityRule::split, read_rule>},
    // All events of a request must fit into one item of the store.
    {"split_max", set<&IdentityRule::split_max,
                      read_between<std::size_t, 1, std::int64_t{store::kMaxArrivals}>>},
    {"tenant"},  // take_tenant_place(), read_tenants()
});

// If the rule splits, `of_item` becomes the same rule without splitting.
std::optional<Identifier> make_identifier(const Node& table, const Way& way,
                                          std::optional<Identifier>& of_item, Loading& loading) {
  Report& report = loading.report;
  const std::size_t before = report.count();
  IdentityRule rule = way.preset != nullptr ? way.preset->identity : IdentityRule{};
  read_id(table, rule, report);
  read_keys(table, kRuleKeys, rule, loading);
  take_tenant_place(table, way, rule.tenant, report);
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

// Bytes are not kept for longer than the id unless the file says so.
void read_remember(const Node& node, Spans& spans, Loading& loading) {
  set<&Spans::remember, read_duration_from<1>>(node, spans, loading);
  spans.keep = std::min(kDefaultTtl, spans.remember);
}

constexpr auto kSpanKeys = std::to_array<Key<Spans>>({
    {"remember", read_remember},
    {"keep", set<&Spans::keep, read_duration_from<0>>},
    {"keep_dead", set<&Spans::keep_dead, read_duration_from<0>>},
    {"sender_retries"},  // check_spans()
});

Spans read_spans(const Node& table, const Way& way, Loading& loading) {
  const std::size_t before = loading.report.count();
  Spans spans;
  if (way.preset != nullptr) spans.remember = way.preset->remember;
  spans.keep = std::min(spans.keep, spans.remember);
  read_keys(table, kSpanKeys, spans, loading);
  if (loading.report.count() == before) check_spans(table, way, spans, loading.report);
  return spans;
}

void read_ack_body(const Node& node, gateway::AckResponse& ack, Loading& loading) {
  if (node.kind == Node::Kind::text) {
    ack.body = node.text;  // may be empty
  } else {
    set<&gateway::AckResponse::body, read_text>(node, ack, loading);
  }
}

constexpr auto kAckKeys = std::to_array<Key<gateway::AckResponse>>({
    {"status", set<&gateway::AckResponse::status, read_between<int, 200, 299>>},
    {"body", read_ack_body},
    {"content_type", set<&gateway::AckResponse::content_type, read_text>},
});

std::optional<gateway::AckResponse> read_ack(const Node& node, Loading& loading) {
  Report& report = loading.report;
  if (!is_table(node, report)) return std::nullopt;
  check_keys(node, {key_names(kAckKeys)}, report);
  gateway::AckResponse ack;
  read_keys(node, kAckKeys, ack, loading);
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

// The name, and how requests are signed: config_signing.cpp.
constexpr auto kSigningKeys = std::to_array<Key<Signing>>(
    {{"name"}, {"preset"}, {"verify"}, {"secrets"}, {"key_id"}, {"parameters"}, {"topics"}});

constexpr auto kCommonKeys = std::to_array<Key<Common>>({
    {"ack", set<&Common::ack, read_ack>},
    {"deliver_to"},  // read_destinations()
    {"max_body", set<&Common::max_body, read_body_limit>},
    {"enforce", set<&Common::enforce, read_flag>},
});

Common read_common(const Node& table, const Way& way, const Surroundings& around,
                   Loading& loading) {
  Report& report = loading.report;
  Common common{table, way, read_spans(table, way, loading), {}, {}, around.max_body};
  common.deliver_to = read_destinations(table, around, report);
  read_keys(table, kCommonKeys, common, loading);
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
  const Variable none;
  Loading silent{said_already, none, {}};
  std::optional<Identifier> identifier = make_identifier(common.table, common.way, of_item, silent);
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
  check_keys(table, {key_names(kSigningKeys, kRuleKeys, kSpanKeys, kCommonKeys)}, report);
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
  if (way || table.find("preset") == nullptr) make_identifier(table, any, of_item, loading);
  const Common common = read_common(table, any, around, loading);
  std::vector<gateway::Source> sources;
  if (report.count() != before || !way) return sources;
  for (Sender& each : senders) {
    std::optional<gateway::Source> made = make_source(std::move(each), common, context);
    if (made) sources.push_back(std::move(*made));
  }
  return sources;
}

}  // namespace hapax::daemon
