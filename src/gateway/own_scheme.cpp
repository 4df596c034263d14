// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "gateway/own_scheme.hpp"

namespace hapax::gateway {

namespace {

// Visits every text of a scheme.
template <class Visit>
void for_each_text(Scheme& scheme, const Visit& visit) {
  for (SignaturePlace& each : scheme.signatures) {
    visit(each.at);
    visit(each.prefix);
    visit(each.label);
    visit(each.time_label);
  }
  for (std::string_view& each : scheme.messages) visit(each);
  visit(scheme.time.at);
  visit(scheme.secret.prefix);
  visit(scheme.each);
  for (RequiredHeader& each : scheme.required) {
    visit(each.name);
    visit(each.value);
  }
  visit(scheme.body_hash_query);
  for (std::string_view& each : scheme.alias) visit(each);
  for (std::string_view& each : scheme.certificate_url) visit(each);
  for (std::string_view& each : scheme.jwt.algorithms) visit(each);
  visit(scheme.jwt.issuer);
  visit(scheme.jwt.body_claim);
  visit(scheme.jwt.url_claim);
  visit(scheme.jwt.required);
}

}  // namespace

std::shared_ptr<const OwnScheme> own_scheme(const Scheme& scheme) {
  auto own = std::make_shared<OwnScheme>();
  own->scheme = scheme;
  for_each_text(own->scheme, [&](std::string_view& text) {
    if (!text.empty()) text = own->texts.emplace_back(text);
  });
  return own;
}

}  // namespace hapax::gateway
