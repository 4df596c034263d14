// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// The input is the number of a rule (one byte; with 255 the rule itself follows, in lines), the
// byte that fills the padding after the body, a line for the header X-Id, a line for the query, and
// a body.
#include "base/check.hpp"

#include <hapax/identify.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>

namespace {

using namespace hapax;

IdentityRule rule(std::string_view id, std::string_view second, std::string_view fallback,
                  std::string_view split) {
  IdentityRule rule;
  rule.id = {id, second};
  rule.id_fallback = fallback;
  rule.type = "json:/type";
  rule.order_key = "json:/key";
  rule.version = "json:/version";
  rule.split = split;
  rule.split_max = 4;
  return rule;
}

std::array<IdentityRule, 8> rules() {
  std::array<IdentityRule, 8> all{
      rule("json:/id", "", "", ""),
      rule("json:/a/id", "header:X-Id", "", ""),
      rule("json:/id", "", "hash:/a,/b", ""),
      rule("query:id", "", "", ""),
      rule("json:/id", "", "", "json:/*"),
      rule("json:/id", "header:X-Id", "hash:/a", "json:/items/*/item"),
      rule("none", "", "", "json:/*/*"),
      rule("form:id", "", "", ""),
  };
  all[1].tenant = "json:/tenant";
  all[7].type = all[7].order_key = all[7].version = "";
  return all;
}

std::string_view take_line(std::string_view& rest) {
  const std::string_view line = rest.substr(0, rest.find('\n'));
  rest.remove_prefix(std::min(rest.size(), line.size() + 1));
  return line;
}

void make_rule(std::string_view text) {
  IdentityRule made;
  for (std::string_view& place : made.id) place = take_line(text);
  made.id_fallback = take_line(text);
  made.type = take_line(text);
  made.order_key = take_line(text);
  made.version = take_line(text);
  made.tenant = take_line(text);
  made.split = take_line(text);
  const Result<Identifier> identifier = Identifier::make(made);
  HAPAX_CHECK(identifier || identifier.error().code() == Code::misconfigured);
  if (!identifier) return;
  Scratch scratch;
  Request request;
  request.body = text;
  static_cast<void>(identifier->identify(request, scratch));
}

void check_item(const Item& item, std::string_view body, bool has_id) {
  HAPAX_CHECK(item.bytes.data() >= body.data());
  HAPAX_CHECK(item.bytes.data() + item.bytes.size() <= body.data() + body.size());
  const Identity& identity = item.identity;
  HAPAX_CHECK((item.reason == Reason::none) == item.detail.empty());
  HAPAX_CHECK(identity.id.empty() == (item.reason != Reason::none || !has_id));
  HAPAX_CHECK(identity.key.empty() == identity.id.empty());
  HAPAX_CHECK(identity.id.size() <= kMaxEventId && identity.type.size() <= kMaxType);
  HAPAX_CHECK(identity.order_key.size() <= kMaxOrderKey && identity.tenant.size() <= kMaxTenant);
}

bool same(const Item& a, const Item& b) {
  return a.bytes == b.bytes && a.reason == b.reason && a.detail == b.detail &&
         a.identity.id == b.identity.id && a.identity.key == b.identity.key &&
         a.identity.type == b.identity.type && a.identity.order_key == b.identity.order_key &&
         a.identity.version == b.identity.version && a.identity.tenant == b.identity.tenant;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  std::string_view rest(reinterpret_cast<const char*>(data + 2), size - 2);
  if (data[0] == 255) {
    make_rule(rest);
    return 0;
  }
  static const std::array<IdentityRule, 8> all = rules();
  const IdentityRule& chosen = all[data[0] % all.size()];
  const Identifier identifier = Identifier::make(chosen).value();

  const Header header{"x-id", take_line(rest)};
  const std::string url = "https://h/in/x?" + std::string(take_line(rest));
  const auto padded = std::make_unique<char[]>(rest.size() + kBodyPadding);
  std::fill_n(std::copy(rest.begin(), rest.end(), padded.get()), kBodyPadding,
              static_cast<char>(data[1]));

  Request request;
  request.url = url;
  request.headers = {&header, 1};
  request.body = {padded.get(), rest.size()};
  request.body_padding = kBodyPadding;
  Request copied = request;
  copied.body = rest;
  copied.body_padding = 0;

  Scratch scratch;
  const Identified one = identifier.identify(request, scratch);
  const Identified other = identifier.identify(copied, scratch);
  HAPAX_CHECK(one.reason == other.reason && one.detail == other.detail);
  HAPAX_CHECK(
      std::equal(one.items.begin(), one.items.end(), other.items.begin(), other.items.end(), same));
  HAPAX_CHECK(one.reason == Reason::none || one.items.empty());
  HAPAX_CHECK(one.items.size() <= chosen.split_max);
  HAPAX_CHECK(!chosen.split.empty() || one.reason != Reason::none || one.items.size() == 1);
  for (const Item& item : one.items) check_item(item, request.body, chosen.id[0] != "none");
  return 0;
}
