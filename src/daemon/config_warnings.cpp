// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "daemon/config_warnings.hpp"

#include "daemon/config_source.hpp"
#include "verify/schemes.hpp"

#include <algorithm>
#include <map>

namespace hapax::daemon {

namespace {

constexpr std::size_t kShortToken = 16;

std::vector<const Node*> tables(const Node& root, std::string_view name) {
  std::vector<const Node*> found;
  const Node* const list = root.find(name);
  if (list == nullptr || list->kind != Node::Kind::list) return found;
  for (const Node& each : list->children) found.push_back(&each);
  return found;
}

void warn_of_short(const Node& table, std::string_view member, const std::string& token,
                   Report& report) {
  const Node* const node = table.find(member);
  if (node == nullptr || token.empty() || token.size() >= kShortToken) return;
  report.warning(*node, "a token of " + std::to_string(token.size()) +
                            (token.size() == 1 ? " character" : " characters") +
                            " can be guessed; use at least " + std::to_string(kShortToken) +
                            " random ones");
}

void warn_of_tokens(const Node& root, const Config& config, Report& report) {
  if (const Node* admin = root.find("admin")) {
    warn_of_short(*admin, "token", config.admin_token.value_or(""), report);
  }
  const std::vector<const Node*> all = tables(root, "token");
  for (std::size_t i = 0; i < all.size() && i < config.tokens.size(); ++i) {
    warn_of_short(*all[i], "secret", config.tokens[i].secret, report);
  }
}

// The first source made from the table; null: none.
const gateway::Source* source_of(const Node& table, const Config& config) {
  const Node* const name = table.find("name");
  const auto is = [&](const gateway::Source& each) {
    return name != nullptr && each.name == name->text;
  };
  const auto found = std::find_if(config.sources.begin(), config.sources.end(), is);
  return found == config.sources.end() ? nullptr : &*found;
}

// For a preset's own id, docs/providers.md lists whether it is signed.
bool is_of_preset(const gateway::Source& source, std::string_view at) {
  if (source.preset == nullptr) return false;
  const auto& id = source.preset->identity.id;
  return std::find(id.begin(), id.end(), at) != id.end();
}

void warn_of_id(const Node& table, const gateway::Source& source, Report& report) {
  const Node* const id = table.find("id");
  if (id == nullptr || !signs(source.scheme->scheme)) return;
  const std::vector<const Node*> parts = read_texts(*id, true, report);
  for (const Node* each : parts) {
    if (each->text == "none" || is_of_preset(source, each->text) ||
        is_covered(source.scheme->scheme, each->text)) {
      continue;
    }
    const bool runs_together = each->text.starts_with("form:") &&
                               verify_detail::runs_fields_together(source.scheme->scheme);
    report.warning(*each,
                   in_quotes(each->text) +
                       (runs_together ? " is signed without a delimiter" : " is not signed") +
                       ": anyone who captures a request can replay it under another id, or claim "
                       "the id of a future event; use a signed place, if there is one");
  }
}

// Whether a signature is valid for one source only. Otherwise a request to one source is valid at
// another one with the same secret.
bool is_bound_to_its_source(const Scheme& scheme) {
  if (scheme.algorithm == Algorithm::none) return true;
  if (scheme.algorithm == Algorithm::aws_sns) return true;  // by its topics
  return !scheme.jwt.url_claim.empty() || verify_detail::contains(scheme.messages[0], "{url") ||
         verify_detail::contains(scheme.messages[0], "{path}");
}

void warn_of_shared_secrets(const Node& root, const Config& config, Report& report) {
  std::map<std::string, const gateway::Source*> seen;
  for (const Node* table : tables(root, "source")) {
    const Node* const name = table->find("name");
    std::string other;
    for (const gateway::Source& each : config.sources) {
      if (name == nullptr || each.name != name->text) continue;
      if (is_bound_to_its_source(each.scheme->scheme)) continue;
      for (const std::string& secret : each.secrets) {
        const auto [first, added] = seen.emplace(key_of(each.scheme->scheme, secret), &each);
        if (!added && first->second->name != each.name) other = first->second->name;
      }
    }
    if (other.empty()) continue;
    const Node* const secrets = table->find("secrets");
    report.warning(secrets != nullptr ? *secrets : *table,
                   "the source " + in_quotes(other) +
                       " has the same secret: a request captured at one can be replayed at the "
                       "other; use a separate secret for each");
  }
}

}  // namespace

void warn_of(const Node& root, const Config& config, Report& report) {
  warn_of_tokens(root, config, report);
  for (const Node* table : tables(root, "source")) {
    const gateway::Source* const source = source_of(*table, config);
    if (source != nullptr && source->scheme) warn_of_id(*table, *source, report);
  }
  warn_of_shared_secrets(root, config, report);
}

}  // namespace hapax::daemon
