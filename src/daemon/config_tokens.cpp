// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "daemon/config_tokens.hpp"

#include <hapax/store.hpp>

#include <algorithm>
#include <array>

namespace hapax::daemon {

namespace {

using admin::Grant;
using admin::Right;
using Words = std::string_view;

constexpr auto kToken = std::to_array<Words>({"name", "secret", "allow"});
constexpr auto kLaterRights = std::to_array<Words>({"messages", "keys"});
constexpr Words kRights =
    "write \"read\", \"replay\", \"lease:DESTINATION\", \"settle:DESTINATION\" or \"dedup:SCOPE\"";

bool is_one_of(Words word, const std::vector<std::string>& among) {
  return std::find(among.begin(), among.end(), word) != among.end();
}

std::optional<Right> right_from(Words word) {
  for (const Right each : {Right::read, Right::replay, Right::lease, Right::settle, Right::dedup}) {
    if (name(each) == word) return each;
  }
  return std::nullopt;
}

// The problem with the argument of a right; empty: none.
std::string fault_in(Right right, bool has_colon, Words of, const AroundTokens& around) {
  if (right == Right::read || right == Right::replay) {
    return has_colon ? "this right takes no argument; use \"" + std::string(name(right)) + "\""
                     : "";
  }
  if (of.empty()) return "this right needs an argument; use \"" + in_words(right) + "\"";
  if (right == Right::dedup) {
    return of.size() > kMaxScope ? "a scope has at most 256 bytes" : "";
  }
  if (is_one_of(of, around.destinations)) return "";
  return "unknown destination " + in_quotes(of) + "; add a [[destination]] of that name";
}

std::optional<Grant> read_grant(const Node& node, const AroundTokens& around, Report& report) {
  const Words text = node.text;
  const std::size_t colon = text.find(':');
  const Words word = text.substr(0, colon);
  const Words of = colon == Words::npos ? Words() : text.substr(colon + 1);
  if (std::find(kLaterRights.begin(), kLaterRights.end(), word) != kLaterRights.end()) {
    report.problem(node, in_quotes(word) + " is not available in this version");
    return std::nullopt;
  }
  const std::optional<Right> right = right_from(word);
  if (!right) {
    report.problem(node, "unknown right; " + std::string(kRights));
    return std::nullopt;
  }
  const std::string fault = fault_in(*right, colon != Words::npos, of, around);
  if (fault.empty()) return Grant{*right, std::string(of)};
  report.problem(node, fault);
  return std::nullopt;
}

std::vector<Grant> read_allow(const Node& table, const AroundTokens& around, Report& report) {
  std::vector<Grant> grants;
  const Node* const allow = table.find("allow");
  if (allow == nullptr) {
    report.problem_of(table, "allow",
                      "required: a token without rights is useless; for example [\"lease:NAME\", "
                      "\"settle:NAME\"]");
    return grants;
  }
  const std::size_t before = report.count();
  for (const Node* each : read_texts(*allow, false, report)) {
    if (std::optional<Grant> grant = read_grant(*each, around, report)) {
      grants.push_back(*std::move(grant));
    }
  }
  if (grants.empty() && report.count() == before) {
    report.problem(*allow, "the list is empty; " + std::string(kRights));
  }
  return grants;
}

// Two tokens must not share a secret: its rights would be ambiguous.
std::optional<std::string> read_own_secret(const Node& table, const AroundTokens& around,
                                           const Config& config, Loading& loading) {
  const Node* const node = table.find("secret");
  if (node == nullptr) {
    loading.report.problem_of(
        table, "secret", "required; use { file = \"...\" }, { env = \"...\" } or the token itself");
    return std::nullopt;
  }
  std::optional<std::string> secret = read_token(*node, loading);
  if (!secret) return std::nullopt;
  const bool others = std::any_of(config.tokens.begin(), config.tokens.end(),
                                  [&](const auto& each) { return each.secret == *secret; });
  if (!others && secret != around.admin_token) return secret;
  loading.report.problem(*node, others ? "another token has the same secret; choose another"
                                       : "this is the admin token; choose another");
  return std::nullopt;
}

}  // namespace

std::optional<std::string> read_token(const Node& node, Loading& loading) {
  std::optional<std::string> token = read_secret(node, loading);
  const auto visible = [](char c) { return c > 0x20 && c < 0x7f; };
  if (!token || std::all_of(token->begin(), token->end(), visible)) return token;
  loading.report.problem(node, "a token is sent in a header; use visible ASCII without spaces");
  return std::nullopt;
}

void read_token_table(const Node& table, const std::optional<std::string>& name,
                      const AroundTokens& around, Config& config, Loading& loading) {
  check_keys(table, {kToken}, loading.report);
  std::optional<std::string> secret = read_own_secret(table, around, config, loading);
  std::vector<Grant> allow = read_allow(table, around, loading.report);
  config.tokens.push_back({name.value_or(""), secret.value_or(""), std::move(allow)});
}

}  // namespace hapax::daemon
