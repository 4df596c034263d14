// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/verify.hpp>

#include <chrono>
#include <string_view>

// Families of schemes that providers share, as functions of the provider's names and options.
namespace hapax::verify_detail {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Maximum time in the future, also for providers whose own verification code sets none: clocks may
// be wrong, but no signature should stay valid forever.
inline constexpr seconds kFuture{300};
inline constexpr seconds kWindow{300};

// HMAC of the body, without other content in the header.
constexpr Scheme body_hmac(std::string_view at, Encoding encoding, std::string_view prefix = "",
                           Algorithm algorithm = Algorithm::hmac_sha256,
                           SecretForm secret = SecretForm::text) {
  Scheme scheme;
  scheme.algorithm = algorithm;
  scheme.signatures[0] = {.at = at, .encoding = encoding, .prefix = prefix};
  scheme.messages[0] = "{body}";
  scheme.secret.form = secret;
  return scheme;
}

constexpr Scheme hex_body(std::string_view at, std::string_view prefix = "",
                          Algorithm algorithm = Algorithm::hmac_sha256) {
  return body_hmac(at, Encoding::hex, prefix, algorithm);
}

constexpr Scheme base64_body(std::string_view at, std::string_view prefix = "",
                             SecretForm secret = SecretForm::text) {
  return body_hmac(at, Encoding::base64, prefix, Algorithm::hmac_sha256, secret);
}

// Standard Webhooks: id, time and body; "v1,BASE64 v1,BASE64".
constexpr Scheme standard_webhooks(std::string_view signature, std::string_view time,
                                   std::string_view message, SecretRule secret,
                                   milliseconds past = kWindow) {
  Scheme scheme;
  scheme.signatures[0] = {
      .at = signature, .encoding = Encoding::base64, .item = ' ', .pair = ',', .label = "v1"};
  scheme.messages[0] = message;
  scheme.time = {.at = time, .past = past, .future = kFuture};
  scheme.secret = secret;
  return scheme;
}

inline constexpr SecretRule kWhsec = {.form = SecretForm::base64, .prefix = "whsec_"};

constexpr Scheme webhook_headers(SecretRule secret = kWhsec, milliseconds past = kWindow) {
  return standard_webhooks("header:webhook-signature", "header:webhook-timestamp",
                           "{header:webhook-id}.{time}.{body}", secret, past);
}

constexpr Scheme svix_headers() {
  return standard_webhooks("header:svix-signature", "header:svix-timestamp",
                           "{header:svix-id}.{time}.{body}", kWhsec);
}

// "t=TIME,v1=HEX,v1=HEX" in one header; TIME and body are signed.
struct StampedNames {
  std::string_view label = "v1";
  std::string_view time_label = "t";
  TimeFormat format = TimeFormat::unix_seconds;
  milliseconds past = kWindow;
  std::string_view message = "{time}.{body}";
  char item = ',';
};

constexpr Scheme stamped(std::string_view at, const StampedNames& names = {}) {
  Scheme scheme;
  scheme.signatures[0] = {.at = at,
                          .item = names.item,
                          .pair = '=',
                          .label = names.label,
                          .time_label = names.time_label};
  scheme.messages[0] = names.message;
  scheme.time = {.at = "item", .format = names.format, .past = names.past, .future = kFuture};
  return scheme;
}

// The time in a separate header.
constexpr Scheme timed(SignaturePlace signature, std::string_view message, std::string_view time,
                       TimeFormat format = TimeFormat::unix_seconds, milliseconds past = kWindow) {
  Scheme scheme;
  scheme.signatures[0] = signature;
  scheme.messages[0] = message;
  scheme.time = {.at = time, .format = format, .past = past, .future = kFuture};
  return scheme;
}

// HMAC of a message other than the body alone.
constexpr Scheme over(SignaturePlace signature, std::string_view message,
                      Algorithm algorithm = Algorithm::hmac_sha256,
                      std::string_view other_message = "") {
  Scheme scheme;
  scheme.algorithm = algorithm;
  scheme.signatures[0] = signature;
  scheme.messages = {message, other_message};
  return scheme;
}

constexpr Scheme with_secret(Scheme scheme, SecretForm form, std::string_view prefix = "") {
  scheme.secret = {.form = form, .prefix = prefix};
  return scheme;
}

constexpr Scheme with_algorithm(Scheme scheme, Algorithm algorithm) {
  scheme.algorithm = algorithm;
  return scheme;
}

constexpr Scheme with_public_key(Scheme scheme, Algorithm algorithm, std::string_view prefix = "") {
  scheme.algorithm = algorithm;
  scheme.secret = {.form = SecretForm::public_key, .prefix = prefix};
  return scheme;
}

constexpr Scheme token(std::string_view at, std::string_view each = "") {
  Scheme scheme;
  scheme.algorithm = Algorithm::token;
  scheme.signatures[0].at = at;
  scheme.each = each;
  return scheme;
}

constexpr Scheme basic() {
  Scheme scheme;
  scheme.algorithm = Algorithm::basic;
  return scheme;
}

constexpr Scheme jwt(std::string_view at, JwtRule rule) {
  Scheme scheme;
  scheme.algorithm = Algorithm::jwt;
  scheme.signatures[0].at = at;
  scheme.jwt = rule;
  if (rule.algorithms[0] == "ES256") scheme.secret.form = SecretForm::public_key;
  return scheme;
}

constexpr bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Whether the signature covers the URL.
constexpr bool needs_url(const Scheme& scheme) {
  return !scheme.jwt.url_claim.empty() || contains(scheme.messages[0], "{url") ||
         contains(scheme.messages[1], "{url");
}

// Whether the scheme uses Context::key_id.
constexpr bool needs_key_id(const Scheme& scheme) {
  constexpr std::string_view kKeyId = "{key_id}";
  return scheme.jwt.issuer == kKeyId || scheme.signatures[0].label == kKeyId ||
         scheme.signatures[1].label == kKeyId || scheme.required[0].value == kKeyId ||
         scheme.required[1].value == kKeyId || contains(scheme.messages[0], kKeyId) ||
         contains(scheme.messages[1], kKeyId);
}

// Whether a change of the body breaks the signature.
constexpr bool covers_body(const Scheme& scheme) {
  const std::string_view message = scheme.messages[0];
  // Another body with the same CRC-32 is easy to construct, and one item is not the whole body.
  if (contains(message, "{body:crc32}") || contains(message, "{body:item:")) return false;
  return scheme.algorithm == Algorithm::jwt || !scheme.body_hash_query.empty() ||
         contains(message, "{body") || contains(message, "{form:sorted") ||
         contains(message, "{form:base64:") || contains(message, "{url:plivo}");
}

// Whether {json:NAME} or {json?:NAME} is in the message.
constexpr bool is_signed_alone(std::string_view message, std::string_view pointer) {
  for (std::size_t at = message.find(pointer); at != message.npos;
       at = message.find(pointer, at + 1)) {
    if (message.substr(at + pointer.size()).starts_with('}') && message[at - 1] == ':') return true;
  }
  return false;
}

// Whether form fields are signed as concatenated names and values. The boundaries are then
// ambiguous: "NumMedia" = "0" can be moved into the value before it.
constexpr bool runs_fields_together(const Scheme& scheme) {
  return contains(scheme.messages[0], "{form:sorted") ||
         contains(scheme.messages[0], "{url:plivo}");
}

// Whether the signature covers every place of the id.
constexpr bool covers_id(const Scheme& scheme, const IdentityRule& rule) {
  if (rule.id[0].empty() || rule.id[0] == "none") return false;
  if (scheme.algorithm == Algorithm::aws_sns) return true;
  for (const std::string_view at : rule.id) {
    if (at.empty()) continue;
    const std::string_view name = at.substr(at.find(':') + 1);
    // Body fields that are signed individually. "header:A,B" is a header and its alias.
    const bool alone = contains(scheme.messages[0], at.substr(0, at.find(','))) ||
                       (at.starts_with("json:") && is_signed_alone(scheme.messages[0], name));
    const bool header = at.starts_with("header:");
    const bool loose = at.starts_with("form:") && runs_fields_together(scheme);
    const bool covered =
        alone || at.starts_with("jwt:") || (!header && !loose && covers_body(scheme));
    if (!covered) return false;
  }
  return true;
}

// Whether a captured request is rejected after the time window.
constexpr bool covers_time(const Scheme& scheme) {
  if (scheme.jwt.max_age.count() > 0) return true;
  if (scheme.time.at.empty() || scheme.time.past == kNoLimit) return false;
  return contains(scheme.messages[0], "{time}") ||
         (scheme.time.at.starts_with("json:") && covers_body(scheme));
}

}  // namespace hapax::verify_detail
