// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "daemon/config_source.hpp"
#include "verify/parts.hpp"
#include "verify/schemes.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace hapax::daemon {

namespace {

constexpr auto kTenant = std::to_array<std::string_view>({"name", "secrets"});
constexpr std::size_t kMaxTenants = 10'000;

bool is_list_of_tables(const Node& node) {
  return node.kind == Node::Kind::list &&
         std::all_of(node.children.begin(), node.children.end(),
                     [](const Node& each) { return each.kind == Node::Kind::table; });
}

}  // namespace

bool signs(const Scheme& scheme) {
  return scheme.algorithm != Algorithm::none && scheme.algorithm != Algorithm::token &&
         scheme.algorithm != Algorithm::basic;
}

bool is_covered(const Scheme& scheme, std::string_view at) {
  if (at.starts_with("query:")) {
    const std::string_view message = scheme.messages[0];
    return verify_detail::contains(message, "{url") || verify_detail::contains(message, at);
  }
  IdentityRule place;
  place.id[0] = at;
  return verify_detail::covers_id(scheme, place);
}

std::string key_of(const Scheme& scheme, const std::string& secret) {
  const Result<verify_detail::Secret> made = verify_detail::make_secret(scheme, secret);
  if (made && made->key) return made->key->der();
  const Result<std::string> bytes = verify_detail::key_bytes(secret, scheme.secret);
  return bytes ? *bytes : secret;
}

void take_tenant_place(const Node& table, const Way& way, std::string_view& into, Report& report) {
  const Node* node = table.find("tenant");
  if (node == nullptr || node->kind != Node::Kind::text || !read_text(*node, report)) return;
  into = node->text;
  if (is_covered(way.scheme, node->text)) return;
  if (signs(way.scheme)) {
    report.problem(
        *node,
        in_quotes(node->text) +
            " is not signed: anyone who captures a request could change the tenant; use a signed "
            "place of the body, or declare tenants with their own secrets as [[source.tenant]]");
  } else {
    report.warning(*node, "nothing is signed: any sender can claim any tenant");
  }
}

std::vector<DeclaredTenant> read_tenants(const Node& table, Report& report) {
  std::vector<DeclaredTenant> tenants;
  const Node* node = table.find("tenant");
  if (node == nullptr || node->kind == Node::Kind::text) return tenants;
  if (!is_list_of_tables(*node) || node->children.size() > kMaxTenants) {
    report.problem(*node,
                   "use tenant = \"json:/pointer\" if requests contain it, or up to 10000 "
                   "[[source.tenant]] with name and secrets");
    return tenants;
  }
  std::map<std::string, std::size_t> lines;
  for (const Node& each : node->children) {
    check_keys(each, {kTenant}, report);
    const Node* name = each.find("name");
    if (name == nullptr) {
      report.problem_of(each, "name", "required; for example name = \"...\"");
      continue;
    }
    std::optional<std::string> text = read_name(*name, report);
    if (!text) continue;
    const auto [other, first] = lines.emplace(*text, name->line);
    if (first) {
      tenants.push_back({&each, std::move(*text)});
    } else {
      report.problem(*name, "line " + std::to_string(other->second) + " already uses the name " +
                                in_quotes(*text) + "; choose another");
    }
  }
  return tenants;
}

void check_own_secrets(const std::vector<const Signing*>& signings, const Scheme& scheme,
                       Report& report) {
  std::map<std::string, std::pair<const Signing*, std::size_t>> seen;  // owner and line
  for (const Signing* each : signings) {
    for (const SecretEntry& secret : each->secrets) {
      if (!secret.text) continue;
      const auto [other, first] =
          seen.emplace(key_of(scheme, *secret.text), std::pair(each, secret.at->line));
      if (first || other->second.first == each) continue;
      report.problem(*secret.at, "the secret on line " + std::to_string(other->second.second) +
                                     " is the same; a request captured from one tenant could be "
                                     "replayed as the other; use another secret");
    }
  }
}

}  // namespace hapax::daemon
