// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/base64.hpp"
#include "base/hex.hpp"
#include "verify/parts.hpp"

#include <algorithm>
#include <charconv>

namespace hapax::verify_detail {

namespace {

constexpr std::size_t kMaxToken = 16384;

struct Token {
  std::string_view signed_part;  // header.payload
  std::string header;
  std::string payload;
  std::string signature;
};

std::optional<Token> split_token(std::string_view text) {
  const std::size_t first = text.find('.');
  const std::size_t second = text.find('.', first + 1);
  if (first == text.npos || second == text.npos || text.find('.', second + 1) != text.npos) {
    return std::nullopt;
  }
  const auto header = from_base64(text.substr(0, first), Base64::url);
  const auto payload = from_base64(text.substr(first + 1, second - first - 1), Base64::url);
  const auto signature = from_base64(text.substr(second + 1), Base64::url);
  if (!header || !payload || !signature) return std::nullopt;
  return Token{text.substr(0, second), *header, *payload, *signature};
}

Failure invalid(std::string detail) {
  return {Reason::signature_invalid, std::move(detail)};
}

bool is_signed(const Secret& secret, std::string_view algorithm, const Token& token) {
  if (algorithm == "ES256") {
    return secret.key && secret.key->verify_pair(token.signed_part, token.signature);
  }
  if (secret.key) return false;  // anyone can compute an HMAC keyed with a public key
  const Hash hash = algorithm == "HS512"   ? Hash::sha512
                    : algorithm == "HS384" ? Hash::sha384
                                           : Hash::sha256;
  const HmacKey key(hash, secret.text);
  Hashing hashing = key.begin();
  hashing.add(token.signed_part);
  return equal_in_constant_time(key.finish(hashing).view(), token.signature);
}

// A numeric claim, truncated to whole seconds; nullopt if it is not a number.
std::optional<std::int64_t> seconds_claim(JsonReader& claims, std::string_view pointer,
                                          bool& there) {
  const JsonValue value = claims.at(pointer);
  there = value.status != JsonStatus::absent;
  if (value.status != JsonStatus::found || value.kind != JsonKind::number) return std::nullopt;
  std::int64_t number = 0;
  const char* end = value.text.data() + value.text.size();
  const auto [stopped, failure] = std::from_chars(value.text.data(), end, number);
  const std::string_view rest(stopped, static_cast<std::size_t>(end - stopped));
  const bool fraction =
      rest.starts_with('.') && rest.find_first_not_of("0123456789", 1) == rest.npos;
  if (failure != std::errc() || !(rest.empty() || fraction)) return std::nullopt;
  return number;
}

MaybeFailure check_times(const Jwt& rule, JsonReader& claims, WallTime now) {
  const std::int64_t seconds =
      std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
  const std::int64_t skew = rule.skew.count();
  bool there = false;
  const auto outside = [](std::string_view what) {
    return Failure{Reason::timestamp_outside_window, std::string(what)};
  };
  const auto expires = seconds_claim(claims, "/exp", there);
  if (there && (!expires || seconds - skew >= *expires)) return outside("the token has expired");
  const auto begins = seconds_claim(claims, "/nbf", there);
  if (there && (!begins || seconds + skew < *begins)) {
    return outside("the token is not valid yet, by this machine's clock");
  }
  if (rule.max_age.count() == 0) return std::nullopt;
  const auto issued = seconds_claim(claims, "/iat", there);
  const std::int64_t max_age = rule.max_age.count();
  if (!issued || *issued < seconds - max_age || *issued > seconds + max_age) {
    return outside("the token was issued too long ago, or in the future by this machine's clock");
  }
  return std::nullopt;
}

// The time of issue: "iat", otherwise "nbf".
std::optional<WallTime> signed_at(JsonReader& claims) {
  constexpr std::int64_t kMost = 1'000'000'000'000;  // still fits in microseconds
  for (const std::string_view claim : {"/iat", "/nbf"}) {
    bool there = false;
    const std::optional<std::int64_t> at = seconds_claim(claims, claim, there);
    if (at && *at >= 0 && *at < kMost) return WallTime(std::chrono::seconds(*at));
  }
  return std::nullopt;
}

MaybeFailure check_hash(const Jwt& rule, JsonReader& claims, std::string_view body) {
  const JsonValue claim = claims.at("/" + rule.body_claim);
  if (claim.status != JsonStatus::found || claim.kind != JsonKind::string) {
    return invalid("the token has no '" + rule.body_claim + "', the hash of the body");
  }
  std::string_view text = claim.text;
  // Some senders pad base64url. The padding encodes no bytes.
  if (rule.body_encoding == Encoding::base64url) {
    while (text.ends_with('=')) text.remove_suffix(1);
  }
  std::array<unsigned char, kMaxDigest> buffer;
  const auto bytes = decode(text, rule.body_encoding, buffer);
  if (bytes && equal_in_constant_time(*bytes, hash_of(Hash::sha256, body).view())) {
    return std::nullopt;
  }
  return invalid("the body hash does not match the token");
}

MaybeFailure check_url(const Jwt& rule, JsonReader& claims, std::string_view url) {
  if (rule.url_claim.empty()) return std::nullopt;
  const JsonValue claim = claims.at("/" + rule.url_claim);
  const std::string expected =
      rule.url_hashed ? to_hex(hash_of(Hash::sha256, url).view()) : std::string(url);
  if (claim.status == JsonStatus::found && claim.kind == JsonKind::string &&
      equal_in_constant_time(claim.text, expected)) {
    return std::nullopt;
  }
  return invalid("the token is for another URL; is public_url the URL the sender calls?");
}

MaybeFailure check_claims(const Jwt& rule, JsonReader& claims, const Request& request,
                          WallTime now) {
  if (!rule.issuer.empty() && claims.at("/iss").text != rule.issuer) {
    return invalid("the token has another issuer");
  }
  if (!rule.required.empty() && claims.at("/" + rule.required).status != JsonStatus::found) {
    return invalid("the token has no '" + rule.required + "'");
  }
  if (MaybeFailure failure = check_hash(rule, claims, request.body)) return failure;
  if (MaybeFailure failure = check_url(rule, claims, request.url)) return failure;
  return check_times(rule, claims, now);
}

}  // namespace

Verdict verify_jwt(const Verifier::Parts& parts, const Request& request, WallTime now) {
  const Place& place = parts.places.front();
  const HeaderValue value = find_header(request, place.name);
  if (value.status == FieldStatus::ambiguous || value.text.size() > kMaxToken) {
    return refused({Reason::header_malformed, "'" + place.name + "' occurs twice or is too long"});
  }
  if (value.status != FieldStatus::found || value.text.empty()) {
    return refused({Reason::signature_missing, "the header '" + place.name + "' is missing"});
  }
  const std::optional<Token> token = split_token(value.text);
  JsonReader header;
  const bool opened = token && header.open(token->header, 0);
  if (!opened || header.at("").status != JsonStatus::found) {
    return refused({Reason::header_malformed, "'" + place.name + "' is not a JWT"});
  }
  // The token must not choose its own algorithm: only those of the scheme are accepted.
  const std::string algorithm = header.at("/alg").text;
  const auto& allowed = parts.jwt.algorithms;
  if (std::find(allowed.begin(), allowed.end(), algorithm) == allowed.end()) {
    return refused(invalid("the token's algorithm is not allowed by this scheme"));
  }
  if (header.at("/crit").status != JsonStatus::absent) {
    return refused(invalid("the token requires an unsupported JWT extension"));
  }
  for (std::size_t i = 0; i < parts.secrets.size(); ++i) {
    if (!is_signed(parts.secrets[i], algorithm, *token)) continue;
    JsonReader claims;
    if (!claims.open(token->payload, 0) || claims.at("").status != JsonStatus::found) {
      return refused({Reason::header_malformed, "the token's payload is not JSON"});
    }
    if (MaybeFailure failure = check_claims(parts.jwt, claims, request, now)) {
      return refused(std::move(*failure));
    }
    Verdict verdict;
    verdict.secret = i;
    verdict.signed_at = signed_at(claims);
    return verdict;
  }
  return refused(invalid("no configured secret matches the token's signature"));
}

}  // namespace hapax::verify_detail
