// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "verify/parts.hpp"

#include "base/base64.hpp"
#include "base/hex.hpp"
#include "base/try.hpp"
#include "verify/nfkd.hpp"
#include "verify/schemes.hpp"

#include <algorithm>

namespace hapax {

namespace verify_detail {

namespace {

Error bad_secret(std::string_view why) {
  return Error(Code::invalid_argument, "the secret " + std::string(why));
}

std::string text_of(const HashValue& value) {
  return std::string(value.view());
}

// base64 with or without padding, because people paste both.
std::optional<std::string> from_loose_base64(std::string_view text) {
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string padded(text);
  while (padded.size() % 4 != 0) padded += '=';
  return from_base64(padded);
}

Result<std::string> decoded(std::string_view text, SecretForm form) {
  const bool hex = form == SecretForm::hex;
  const std::optional<std::string> bytes = hex ? from_hex(text) : from_loose_base64(text);
  if (bytes) return *bytes;
  return bad_secret(hex ? "must be written in hexadecimal" : "must be written in base64");
}

}  // namespace

std::optional<Hash> hmac_hash(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::hmac_md5:
      return Hash::md5;
    case Algorithm::hmac_sha1:
      return Hash::sha1;
    case Algorithm::hmac_sha256:
      return Hash::sha256;
    case Algorithm::hmac_sha384:
      return Hash::sha384;
    case Algorithm::hmac_sha512:
      return Hash::sha512;
    default:
      return std::nullopt;
  }
}

std::optional<KeyKind> key_kind(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::ed25519:
      return KeyKind::ed25519;
    case Algorithm::ecdsa_p256:
      return KeyKind::ecdsa_p256;
    case Algorithm::rsa_sha256:
    case Algorithm::aws_sns:
      return KeyKind::rsa;
    default:
      return std::nullopt;
  }
}

Result<std::string> key_bytes(std::string_view text, const SecretRule& rule) {
  const bool prefixed = !rule.prefix.empty() && text.starts_with(rule.prefix);
  const std::string_view rest = prefixed ? text.substr(rule.prefix.size()) : text;
  switch (rule.form) {
    case SecretForm::text:
      return std::string(rest);
    case SecretForm::base64:
    case SecretForm::hex:
      return decoded(rest, rule.form);
    case SecretForm::base64_if_prefixed:
      if (prefixed) return decoded(rest, SecretForm::base64);
      return std::string(text);
    case SecretForm::text_nfkd:
      if (auto normal = nfkd(rest)) return *normal;
      return bad_secret("has characters outside Latin, whose normalization is not supported");
    case SecretForm::text_sha1:
      return text_of(hash_of(Hash::sha1, rest));
    case SecretForm::text_sha256:
      return text_of(hash_of(Hash::sha256, rest));
    case SecretForm::public_key:
      return std::string(rest);
  }
  return bad_secret("has an unknown form");
}

Result<Secret> make_secret(const Scheme& scheme, const std::string& text) {
  if (scheme.algorithm == Algorithm::none) return Secret{};
  HAPAX_TRY_ASSIGN(bytes, key_bytes(text, scheme.secret));
  if (text.empty() || bytes.empty()) return bad_secret("is empty");
  Secret secret;
  if (const std::optional<KeyKind> kind = key_kind(scheme.algorithm)) {
    HAPAX_TRY_ASSIGN(key, PublicKey::make(*kind, bytes));
    secret.key = std::move(key);
  } else if (scheme.algorithm == Algorithm::jwt && scheme.jwt.algorithms[0] == "ES256") {
    HAPAX_TRY_ASSIGN(key, PublicKey::make(KeyKind::ecdsa_p256, bytes));
    secret.key = std::move(key);
  } else if (const std::optional<Hash> hash = hmac_hash(scheme.algorithm)) {
    secret.hmac.emplace(*hash, bytes);
  } else {
    secret.text = std::move(bytes);
  }
  return secret;
}

Verdict refused(Failure failure) {
  Verdict verdict;
  verdict.reason = failure.reason;
  verdict.detail = std::move(failure.detail);
  return verdict;
}

}  // namespace verify_detail

namespace {

using verify_detail::Message;
using verify_detail::Place;

std::string resolved(std::string_view text, std::string_view key_id) {
  return std::string(text == "{key_id}" ? key_id : text);
}

Result<void> check_parameters(const Verifier::Parts& parts) {
  for (const Message& message : parts.messages) {
    for (const std::string& name : message.parameters()) {
      const bool given = std::any_of(
          parts.parameters.begin(), parts.parameters.end(),
          [&](const OwnedHeader& each) { return each.name == name && !each.value.empty(); });
      if (!given) {
        return Error(Code::misconfigured, "this scheme needs the parameter '" + name + "'");
      }
    }
  }
  return {};
}

Result<void> set_time(const Scheme& scheme, Verifier::Parts& parts) {
  parts.time = scheme.time;
  parts.time.at = {};
  if (scheme.time.at == "item") {
    parts.time_in_list = true;
  } else if (!scheme.time.at.empty()) {
    HAPAX_TRY_ASSIGN(field, parse_field(scheme.time.at));
    parts.time_field = std::move(field);
  }
  for (const Message& message : parts.messages) {
    if (message.uses("time") && scheme.time.at.empty()) {
      return Error(Code::misconfigured,
                   "{time} is signed, but its place is not configured; add "
                   "timestamp = \"header:NAME\"");
    }
  }
  return {};
}

Result<void> set_places(const Scheme& scheme, std::string_view key_id, Verifier::Parts& parts) {
  for (const SignaturePlace& place : scheme.signatures) {
    if (place.at.empty()) continue;
    HAPAX_TRY_ASSIGN(made, Place::make(place, key_id));
    parts.places.push_back(std::move(made));
  }
  for (const std::string_view text : scheme.messages) {
    if (text.empty()) continue;
    HAPAX_TRY_ASSIGN(message, Message::parse(text));
    parts.messages.push_back(std::move(message));
  }
  return {};
}

// Reports missing parts now rather than at the first request.
Result<void> check_whole(const Scheme& scheme, const Verifier::Parts& parts) {
  const bool has_message =
      verify_detail::hmac_hash(scheme.algorithm) || scheme.algorithm == Algorithm::sha256 ||
      (verify_detail::key_kind(scheme.algorithm) && scheme.algorithm != Algorithm::aws_sns);
  if (has_message && (parts.places.empty() || parts.messages.empty())) {
    return Error(Code::misconfigured,
                 "a scheme needs the place of its signature and the signed text; write header and "
                 "signed");
  }
  if (scheme.algorithm == Algorithm::token && parts.places.empty()) {
    return Error(Code::misconfigured, "a scheme needs the place of its token; write header");
  }
  if (scheme.algorithm != Algorithm::jwt) return {};
  if (parts.places.empty() || parts.places.front().from != Field::From::header) {
    return Error(Code::misconfigured, "a JWT is in a header; write header:NAME");
  }
  if (parts.jwt.algorithms.empty() || parts.jwt.body_claim.empty()) {
    return Error(Code::misconfigured,
                 "a JWT scheme must name its algorithms and the claim with the body's hash");
  }
  return {};
}

void set_jwt(const JwtRule& rule, std::string_view key_id, verify_detail::Jwt& jwt) {
  for (const std::string_view algorithm : rule.algorithms) {
    if (!algorithm.empty()) jwt.algorithms.emplace_back(algorithm);
  }
  jwt.issuer = resolved(rule.issuer, key_id);
  jwt.body_claim = rule.body_claim;
  jwt.body_encoding = rule.body_encoding;
  jwt.url_claim = rule.url_claim;
  jwt.url_hashed = rule.url_hashed;
  jwt.required = rule.required;
  jwt.skew = rule.skew;
  jwt.max_age = rule.max_age;
}

void set_required(const Scheme& scheme, Verifier::Parts& parts) {
  for (const RequiredHeader& each : scheme.required) {
    if (each.name.empty()) continue;
    parts.required.push_back({std::string(each.name), resolved(each.value, parts.key_id)});
  }
}

Result<std::string> pointer_of(std::string_view each) {
  if (each.empty()) return std::string();
  HAPAX_TRY_ASSIGN(field, parse_field(each));
  if (field.from == Field::From::json) return field.name;
  return Error(Code::misconfigured, "items are found with json:/pointer/*");
}

}  // namespace

Result<Verifier::Parts> Verifier::Parts::make(const Scheme& scheme, const Context& context) {
  Parts parts;
  parts.algorithm = scheme.algorithm;
  parts.challenge = scheme.challenge;
  parts.hashed_twice = scheme.hashed_twice;
  if (scheme.hashed_twice && !verify_detail::key_kind(scheme.algorithm)) {
    return Error(Code::misconfigured, "only a public-key scheme can sign a hash of its message");
  }
  parts.key_id = context.key_id;
  for (const Header& each : context.parameters) {
    parts.parameters.push_back({std::string(each.name), std::string(each.value)});
  }
  HAPAX_TRY(set_places(scheme, context.key_id, parts));
  HAPAX_TRY(set_time(scheme, parts));
  if (parts.key_id.empty() && verify_detail::needs_key_id(scheme)) {
    return Error(Code::misconfigured,
                 "this scheme needs key_id, the provider's name for the secret");
  }
  HAPAX_TRY(check_parameters(parts));
  HAPAX_TRY_ASSIGN(each, pointer_of(scheme.each));
  parts.each = std::move(each);
  set_required(scheme, parts);
  parts.body_hash_query = scheme.body_hash_query;
  for (std::size_t i = 0; i < 2; ++i) {
    parts.alias[i] = scheme.alias[i];
    parts.certificate_url[i] = scheme.certificate_url[i];
  }
  set_jwt(scheme.jwt, context.key_id, parts.jwt);
  HAPAX_TRY(check_whole(scheme, parts));
  return parts;
}

}  // namespace hapax
