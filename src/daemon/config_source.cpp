// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "daemon/config_source.hpp"

#include <algorithm>
#include <array>

namespace hapax::daemon {

namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMaxSecrets = 16;
constexpr std::size_t kMaxAckBody = 64 * 1024;
constexpr std::size_t kMaxContentType = 256;

constexpr std::array<std::string_view, 20> kKnown{
    "name",     "preset",    "verify",         "secrets",   "key_id",   "parameters",  "id",
    "type",     "order_key", "version",        "split",     "ack",      "id_fallback", "split_max",
    "remember", "keep",      "sender_retries", "keep_dead", "max_body", "deliver_to"};
constexpr std::array<std::string_view, 4> kLater{"tenant", "enforce", "topics", "handshake"};

// How requests of a source are verified.
struct Way {
  const Preset* preset = nullptr;
  Scheme scheme{};
  const Node* at = nullptr;  // what says so
};

std::string_view nearest_preset(std::string_view word) {
  std::vector<std::string_view> names;
  for (const Preset& each : presets()) names.push_back(each.name);
  if (const std::string_view found = nearest(word, names); !found.empty()) return found;
  // "stripe-connect", "hub": one that starts so, or that this starts with.
  for (const std::string_view name : names) {
    if (word.size() >= 3 && (name.starts_with(word) || word.starts_with(name))) return name;
  }
  return {};
}

const Preset* read_preset(const Node& node, Report& report) {
  const std::optional<std::string> name = read_text(node, report);
  if (!name) return nullptr;
  const Preset* found = preset(*name);
  if (found == nullptr) {
    const std::string_view meant = nearest_preset(*name);
    report.problem(node, "there is no preset " + in_quotes(*name) +
                             (meant.empty() ? "" : "; did you mean '" + std::string(meant) + "'?") +
                             (meant.empty() ? "; " : " ") + "'hapax presets' lists them all");
    return nullptr;
  }
  if (found->verify.algorithm != Algorithm::aws_sns) return found;
  report.problem(node, "'aws-sns' needs topics, which are not available in this version");
  return nullptr;
}

bool is_none(const Node* verify) {
  return verify != nullptr && verify->kind == Node::Kind::text && verify->text == "none";
}

std::optional<Way> read_way_of_preset(const Node& table, const Node& node, Report& report) {
  const Node* verify = table.find("verify");
  const Preset* found = read_preset(node, report);
  if (found == nullptr) return std::nullopt;
  const bool is_unsigned = found->verify.algorithm == Algorithm::none;
  if (is_unsigned && !is_none(verify)) {
    report.problem(node, "'" + std::string(found->name) +
                             "' sends without a signature; write verify = \"none\" beside the "
                             "preset if whoever knows the URL may send events");
    return std::nullopt;
  }
  if (!is_unsigned && verify != nullptr) {
    report.problem(*verify,
                   "the preset says already how requests are signed; leave one of the two "
                   "out");
    return std::nullopt;
  }
  return Way{found, found->verify, &node};
}

std::optional<Way> read_way(const Node& table, std::deque<std::string>& kept, Report& report) {
  if (const Node* node = table.find("preset")) return read_way_of_preset(table, *node, report);
  const Node* verify = table.find("verify");
  Way way;
  way.at = verify;
  if (verify == nullptr) {
    report.problem(table,
                   "nothing says how its requests are signed; write preset = \"NAME\" or "
                   "verify = { scheme = \"hmac\", ... }, or verify = \"none\" if whoever "
                   "knows the URL may send events");
    return std::nullopt;
  }
  if (is_none(verify)) {
    way.scheme.algorithm = Algorithm::none;
    return way;
  }
  if (verify->kind != Node::Kind::table) {
    report.problem(*verify,
                   "write a table, like verify = { scheme = \"hmac\", header = "
                   "\"X-Signature\" }, or the word \"none\"");
    return std::nullopt;
  }
  const std::optional<Scheme> scheme = read_verify(*verify, kept, report);
  if (!scheme) return std::nullopt;
  way.scheme = *scheme;
  return way;
}

// One secret of the file: nothing where it could not be read.
struct SecretEntry {
  const Node* at = nullptr;
  std::optional<std::string> text;
};

std::vector<SecretEntry> read_secrets(const Node& table, Loading& loading) {
  std::vector<SecretEntry> entries;
  const Node* node = table.find("secrets");
  if (node == nullptr) return entries;
  if (node->kind != Node::Kind::list) {
    loading.report.problem(*node, "write a list, also of one: secrets = [{ env = \"VARIABLE\" }]");
    return entries;
  }
  if (node->children.size() > kMaxSecrets) {
    loading.report.problem(*node, "there can be " + std::to_string(kMaxSecrets) +
                                      " secrets at most; take out those that are over");
    return entries;
  }
  for (const Node& each : node->children) entries.push_back({&each, read_secret(each, loading)});
  return entries;
}

std::vector<OwnedHeader> read_parameters(const Node& table, Report& report) {
  std::vector<OwnedHeader> parameters;
  const Node* node = table.find("parameters");
  if (node == nullptr || !is_table(*node, report)) return parameters;
  for (const Node& each : node->children) {
    if (std::optional<std::string> value = read_text(each, report)) {
      parameters.push_back({each.name, std::move(*value)});
    }
  }
  return parameters;
}

// Where the verifier's complaint about a scheme belongs.
void report_scheme(const Node& table, const Way& way, const std::string& detail, Report& report) {
  const auto speaks_of = [&](std::string_view word) { return detail.find(word) != detail.npos; };
  if (speaks_of("needs key_id")) {
    report.problem_of(table, "key_id", detail + "; write key_id = \"...\"");
  } else if (speaks_of("needs the parameter")) {
    report.problem_of(table, "parameters", detail + "; write parameters = { NAME = \"...\" }");
  } else if (way.preset == nullptr && way.at->kind == Node::Kind::table) {
    report.problem_of(*way.at, speaks_of("timestamp =") ? "timestamp" : "signed", detail);
  } else {
    report.problem(*way.at, detail);
  }
}

bool needs_url(const Scheme& scheme) {
  return !scheme.jwt.url_claim.empty() ||
         std::any_of(scheme.messages.begin(), scheme.messages.end(), [](std::string_view text) {
           return text.find("{url") != std::string_view::npos;
         });
}

// Each secret alone, so that each is complained about at its place.
void check_secrets(const Way& way, const std::vector<SecretEntry>& entries, const Context& context,
                   Report& report) {
  for (const SecretEntry& each : entries) {
    if (!each.text) continue;
    const Result<Verifier> made = Verifier::make(way.scheme, {&*each.text, 1}, context);
    if (made) continue;
    std::string detail = made.error().detail();
    constexpr std::string_view kFirst = "secret 1: ";
    if (detail.starts_with(kFirst)) detail.erase(0, kFirst.size());
    report.problem(*each.at, detail);
  }
}

void check_unsigned(const Node& table, const Way& way, Report& report) {
  if (table.find("secrets") != nullptr) {
    report.problem_of(table, "secrets",
                      "nothing is verified with them under verify = \"none\"; "
                      "leave them out, or say how requests are signed");
  }
  const Node* verify = table.find("verify");
  report.warning(verify != nullptr ? *verify : *way.at,
                 "nothing is verified: whoever knows the URL can send events");
}

std::optional<Verifier> make_verifier(const Node& table, const Way& way,
                                      const std::vector<SecretEntry>& entries,
                                      const Context& context, Report& report) {
  const std::size_t before = report.count();
  const Node* node = table.find("secrets");
  const bool is_signed = way.scheme.algorithm != Algorithm::none;
  if (!is_signed) {
    check_unsigned(table, way, report);
  } else if (node == nullptr || (node->kind == Node::Kind::list && node->children.empty())) {
    report.problem_of(table, "secrets",
                      "this is missing; write secrets = [{ env = "
                      "\"VARIABLE\" }], [{ file = \"path\" }] or [\"text\"]");
  }
  const Result<Verifier> without = Verifier::make(way.scheme, {}, context);
  if (!without && without.error().code() == Code::misconfigured) {
    report_scheme(table, way, without.error().detail(), report);
    return std::nullopt;
  }
  check_secrets(way, entries, context, report);
  std::vector<std::string> secrets;
  for (const SecretEntry& each : entries) {
    if (!each.text) return std::nullopt;
    secrets.push_back(*each.text);
  }
  if (report.count() != before || (is_signed && secrets.empty())) return std::nullopt;
  Result<Verifier> made = Verifier::make(way.scheme, secrets, context);
  if (made) return std::move(*made);
  report.problem(*way.at, made.error().detail());
  return std::nullopt;
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

std::optional<Identifier> make_identifier(const Node& table, const Way& way, bool& splits,
                                          Report& report) {
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
  splits = !rule.split.empty();
  if (report.count() != before) return std::nullopt;
  Result<Identifier> made = Identifier::make(rule);
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
};

void check_spans(const Node& table, const Way& way, const Spans& spans, Report& report) {
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

// The parts of a source that its verifier is made of.
struct Signing {
  std::vector<SecretEntry> secrets;
  std::string key_id;
  std::vector<OwnedHeader> parameters;
  std::optional<Verifier> verifier;
};

Signing read_signing(const Node& table, const std::optional<Way>& way, Loading& loading) {
  Signing signing;
  signing.secrets = read_secrets(table, loading);
  take(table, "key_id", signing.key_id, read_text, loading.report);
  signing.parameters = read_parameters(table, loading.report);
  if (!way) return signing;
  std::vector<Header> views;
  for (const OwnedHeader& each : signing.parameters) views.push_back({each.name, each.value});
  const Context context{signing.key_id, views};
  signing.verifier = make_verifier(table, *way, signing.secrets, context, loading.report);
  return signing;
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
  bool splits = false;
  std::optional<Identifier> identifier;
  // Without a known preset it is not known what the file may leave out.
  if (way || table.find("preset") == nullptr) {
    identifier = make_identifier(table, any, splits, report);
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
                         .splits = splits,
                         .secret_headers = secret_headers(way->scheme),
                         .remember = spans.remember,
                         .keep = spans.keep,
                         .keep_dead = spans.keep_dead,
                         .max_body = max_body,
                         .ack = std::move(ack),
                         .deliver_to = std::move(deliver_to),
                         .no = {},
                         .targets = {}};
  for (SecretEntry& each : signing.secrets) source.secrets.push_back(std::move(*each.text));
  return source;
}

}  // namespace hapax::daemon
