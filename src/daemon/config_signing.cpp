// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "daemon/config_source.hpp"

namespace hapax::daemon {

namespace {

constexpr std::size_t kMaxSecrets = 16;
constexpr std::size_t kMaxTopics = 1000;
constexpr std::size_t kMaxTopic = 512;

std::string_view nearest_preset(std::string_view word) {
  std::vector<std::string_view> names;
  for (const Preset& each : presets()) names.push_back(each.name);
  if (const std::string_view found = nearest(word, names); !found.empty()) return found;
  // A preset with the word as a prefix ("hub"), or a prefix of the word ("stripe-connect").
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
    report.problem(node, "unknown preset " + in_quotes(*name) +
                             (meant.empty() ? "" : "; did you mean '" + std::string(meant) + "'?") +
                             (meant.empty() ? "; " : " ") + "'hapax presets' lists them all");
    return nullptr;
  }
  return found;
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
    report.problem(
        node,
        "'" + std::string(found->name) +
            "' does not sign; add verify = \"none\" if anyone who knows the URL may send events");
    return std::nullopt;
  }
  if (!is_unsigned && verify != nullptr) {
    report.problem(*verify,
                   "the preset already defines how requests are signed; remove one of the two");
    return std::nullopt;
  }
  return Way{found, found->verify, &node};
}

std::vector<SecretEntry> read_secrets(const Node& holder, Loading& loading) {
  std::vector<SecretEntry> entries;
  const Node* node = holder.find("secrets");
  if (node == nullptr) return entries;
  if (node->kind != Node::Kind::list) {
    loading.report.problem(
        *node, "expected a list, even for one secret: secrets = [{ env = \"VARIABLE\" }]");
    return entries;
  }
  if (node->children.size() > kMaxSecrets) {
    loading.report.problem(
        *node, "at most " + std::to_string(kMaxSecrets) + " secrets; remove expired ones");
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

// Amazon signs the messages of all customers alike: without a list, every topic would be accepted.
void read_topics(const Node& table, const std::optional<Way>& way,
                 std::vector<OwnedHeader>& parameters, Report& report) {
  const bool sns = way && way->scheme.algorithm == Algorithm::aws_sns;
  const Node* node = table.find("topics");
  if (node == nullptr) {
    if (!sns) return;
    report.problem_of(table, "topics",
                      "Amazon signs all customers' messages alike; list your topics: topics = "
                      "[\"arn:aws:sns:REGION:ACCOUNT:NAME\"]");
    return;
  }
  if (way && !sns) {
    report.problem(*node, "only valid for Amazon SNS");
    return;
  }
  const std::vector<const Node*> texts = read_texts(*node, false, report);
  if (node->kind == Node::Kind::list && (texts.empty() || texts.size() > kMaxTopics)) {
    report.problem(*node, "write 1 to " + std::to_string(kMaxTopics) + " topics");
  }
  for (const Node* each : texts) {
    if (!each->text.starts_with("arn:") || each->text.size() > kMaxTopic) {
      report.problem(*each,
                     in_quotes(each->text) +
                         " is not a topic; use its ARN, \"arn:aws:sns:REGION:ACCOUNT:NAME\"");
    }
    parameters.push_back({"topic", each->text});
  }
}

std::vector<Header> views_of(const std::vector<OwnedHeader>& parameters) {
  std::vector<Header> views;
  views.reserve(parameters.size());
  for (const OwnedHeader& each : parameters) views.push_back({each.name, each.value});
  return views;
}

// Reports the verifier's error about a scheme at the key that it concerns.
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

// Checks each secret alone, so that each problem is reported at its position.
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

void check_unsigned(const Node& holder, const Way& way, Report& report) {
  if (holder.find("secrets") != nullptr) {
    report.problem_of(holder, "secrets",
                      "secrets have no effect with verify = \"none\"; remove them, or configure "
                      "how requests are signed");
  }
  const Node* verify = holder.find("verify");
  report.warning(verify != nullptr ? *verify : *way.at,
                 "no verification: anyone who knows the URL can send events");
}

bool has_secrets(const Node& holder) {
  const Node* node = holder.find("secrets");
  return node != nullptr && (node->kind != Node::Kind::list || !node->children.empty());
}

std::optional<Verifier> make_verifier(const Node& holder, const Way& way, const Signing& signing,
                                      const Context& context, Report& report) {
  const std::size_t before = report.count();
  const bool is_signed = way.scheme.algorithm != Algorithm::none;
  const bool provisioned = way.preset != nullptr && provisions_secret(*way.preset);
  if (!is_signed) {
    check_unsigned(holder, way, report);
  } else if (!has_secrets(holder) && !provisioned) {
    report.problem_of(holder, "secrets",
                      "required; for example secrets = [{ env = \"VARIABLE\" }], [{ file = "
                      "\"path\" }] or [\"text\"]");
  }
  check_secrets(way, signing.secrets, context, report);
  std::vector<std::string> secrets;
  for (const SecretEntry& each : signing.secrets) {
    if (!each.text) return std::nullopt;
    secrets.push_back(*each.text);
  }
  if (report.count() != before) return std::nullopt;
  const bool none_yet = is_signed && secrets.empty();
  Result<Verifier> made = none_yet ? Verifier::make_refusing(way.scheme, context)
                                   : Verifier::make(way.scheme, secrets, context);
  if (made) return std::move(*made);
  report.problem(*way.at, made.error().detail());
  return std::nullopt;
}

}  // namespace

bool provisions_secret(const Preset& preset) {
  return preset.handshake == Handshake::asana || preset.handshake == Handshake::notion;
}

std::optional<Way> read_way(const Node& table, std::deque<std::string>& kept, Report& report) {
  if (const Node* node = table.find("preset")) return read_way_of_preset(table, *node, report);
  const Node* verify = table.find("verify");
  Way way;
  way.at = verify;
  if (verify == nullptr) {
    report.problem(table,
                   "no signature scheme; use preset = \"NAME\" or verify = { scheme = \"hmac\", "
                   "... }, or verify = \"none\" if anyone who knows the URL may send events");
    return std::nullopt;
  }
  if (is_none(verify)) {
    way.scheme.algorithm = Algorithm::none;
    return way;
  }
  if (verify->kind != Node::Kind::table) {
    report.problem(*verify,
                   "expected a table, like verify = { scheme = \"hmac\", header = \"X-Signature\" "
                   "}, or \"none\"");
    return std::nullopt;
  }
  const std::optional<Scheme> scheme = read_verify(*verify, kept, report);
  if (!scheme) return std::nullopt;
  way.scheme = *scheme;
  return way;
}

KeyContext read_key_context(const Node& table, const std::optional<Way>& way, Report& report) {
  KeyContext context;
  take(table, "key_id", context.key_id, read_text, report);
  context.parameters = read_parameters(table, report);
  read_topics(table, way, context.parameters, report);
  if (!way) return context;
  const std::vector<Header> views = views_of(context.parameters);
  const Result<Verifier> without = Verifier::make(way->scheme, {}, {context.key_id, views});
  if (!without && without.error().code() == Code::misconfigured) {
    report_scheme(table, *way, without.error().detail(), report);
    context.good = false;
  }
  return context;
}

Signing read_signing(const Node& holder, const std::optional<Way>& way, const KeyContext& around,
                     Loading& loading) {
  Signing signing;
  signing.secrets = read_secrets(holder, loading);
  if (!way || !around.good) return signing;
  const std::vector<Header> views = views_of(around.parameters);
  const Context context{around.key_id, views};
  signing.verifier = make_verifier(holder, *way, signing, context, loading.report);
  return signing;
}

}  // namespace hapax::daemon
