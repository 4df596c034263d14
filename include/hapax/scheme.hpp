// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hapax {

enum class Algorithm : std::uint8_t {
  none,  // unsigned: every request is authentic. Never a default
  hmac_md5,
  hmac_sha1,
  hmac_sha256,
  hmac_sha384,
  hmac_sha512,
  sha256,  // a plain hash of a message that contains the secret
  ed25519,
  ecdsa_p256,  // over SHA-256, the signature in DER
  rsa_sha256,  // PKCS #1 v1.5
  token,       // the secret itself is sent
  basic,       // HTTP Basic; the secret is "user:password"
  jwt,         // a signed token that contains a hash of the body
  aws_sns,     // fields of the body, RSA
};

enum class Encoding : std::uint8_t { hex, base64, base64url };

// Encoding of a secret.
enum class SecretForm : std::uint8_t {
  text,
  base64,
  hex,
  base64_if_prefixed,  // base64 with the prefix, text without it
  text_nfkd,           // text in Unicode's NFKD form
  text_sha1,           // the key is the hash of the text
  text_sha256,
  public_key,  // PEM (also a certificate), base64 SPKI, raw Ed25519 in hex or base64, or a JWK
};

struct SecretRule {
  SecretForm form = SecretForm::text;
  std::string_view prefix = {};  // "whsec_": removed if present
};

// Where signatures are, and how they are encoded. A value may be a list: with `item` = ',' and
// `pair` = '=', "t=1760000000,v1=5257a8...,v1=..." has the labels t and v1.
struct SignaturePlace {
  std::string_view at = {};  // "header:NAME", "json:/pointer", "form:NAME". "header:NAME*":
                             // all headers with that prefix ("X-DocuSign-Signature-1")
  Encoding encoding = Encoding::hex;
  std::string_view prefix = {};  // "sha256=": required before the signature
  char item = 0;                 // between the items of a list; 0: there is one signature
  char pair = 0;                 // between a label and its value
  std::string_view label = {};   // label of signature items; "{key_id}" stands for Context::key_id
  std::string_view time_label = {};  // label of the timestamp item
  char set = 0;                      // separates lists, each with its own timestamp
  bool time_first = false;           // the first item is the timestamp, without a label
  bool spaces = false;               // spaces around items are ignored
  bool first_only = false;           // only the first item with the label is used
  int secret = -1;                   // only the secret with this index signs it; -1: any of them
};

enum class TimeFormat : std::uint8_t {
  unix_seconds,
  unix_milliseconds,
  rfc3339,
  utc_without_zone,  // "2025-10-09T08:53:20.808"
  http_date,
  opaque,  // signed as text of at most 64 letters, digits and ":.+-"; its value is not parsed
};

inline constexpr std::chrono::milliseconds kNoLimit{-1};

struct TimePlace {
  std::string_view at =
      {};  // "header:NAME", "json:/pointer" (a number), or "item": see SignaturePlace
  TimeFormat format = TimeFormat::unix_seconds;
  std::chrono::milliseconds past = kNoLimit;    // maximum age
  std::chrono::milliseconds future = kNoLimit;  // maximum clock skew
};

struct JwtRule {
  std::array<std::string_view, 3> algorithms{};  // "HS256", "HS384", "HS512", "ES256"
  std::string_view issuer = {};                  // "{key_id}" stands for Context::key_id
  std::string_view body_claim = {};              // contains the SHA-256 of the body
  Encoding body_encoding = Encoding::hex;
  std::string_view url_claim = {};  // contains the URL
  bool url_hashed = false;          // or its hex SHA-256
  std::string_view required = {};   // a required claim
  std::chrono::seconds skew{0};
  std::chrono::seconds max_age{0};  // since "iat"; 0: unchecked
};

// Messages that a provider's handshake signs for anyone. They prove nothing about the sender, so
// they are never accepted as events.
enum class Challenge : std::uint8_t {
  none,
  short_hex,    // 20 to 32 lower-case hexadecimal digits
  base64_text,  // up to 1024 letters, digits and "+/=_.-"
};

struct RequiredHeader {
  std::string_view name = {};
  std::string_view value = {};  // "{key_id}" stands for Context::key_id
};

// How a provider signs, as plain data. The views must outlive Verifier::make, but not the Verifier.
//
// A message is a text with {placeholders}:
//   {body} {method} {url} {path}    path: with the query
//   {time}                          the timestamp, verbatim
//   {secret} {key_id} {param:NAME}  from the configuration
//   {header:NAME} {query:NAME}      must occur exactly once
//   {json:/pointer} {form:NAME}     the same; {json?:/pointer}: empty if missing. A JSON value
//                                   must not contain the adjacent literal text, so that the
//                                   message splits in only one way. {json*:/pointer} may
//                                   contain it, and is empty if missing
//   {body:sha256} {body:sha256_hex} {body:crc32}  of the body; crc32 in decimal
//   {body:inflated}                 the body without its Content-Encoding: gzip
//   {body:ascii}                    JSON with non-ASCII characters as \uXXXX, and '/' as \/
//   {body:item:/pointer}            the exact bytes of one JSON value
//   {form:sorted} {form:sorted_unique}  name and value of each field, ordered by name
//   {form:base64:NAME}              a form field of base64 characters and line breaks only
//   {query:sorted}                  the query, fields ordered by name
//   {url:port} {url:no_port}        with an explicit port, without a port
//   {url:hubspot}                   with some percent-codes decoded, as HubSpot does
//   {url:plivo}                     with sorted query and form fields, as Plivo signs it
//   {headers:NAME}                  "name:value" of the headers that header NAME lists,
//                                   which must include the timestamp header
struct Scheme {
  Algorithm algorithm = Algorithm::hmac_sha256;
  std::array<SignaturePlace, 2> signatures{};
  std::array<std::string_view, 2> messages{};  // either may be the signed message
  TimePlace time{};
  SecretRule secret{};
  Challenge challenge = Challenge::none;
  bool hashed_twice = false;   // the SHA-256 of the message is signed instead
  std::string_view each = {};  // "json:/items/*/item": each element is signed separately
  std::array<RequiredHeader, 2> required{};
  std::string_view body_hash_query = {};  // this query parameter is the hex SHA-256 of the body
  // Alternative header prefix: headers starting with the first are also read with the second.
  std::array<std::string_view, 2> alias{};
  // This header is an https URL of this domain ("paypal-cert-url", "paypal.com").
  std::array<std::string_view, 2> certificate_url{};
  JwtRule jwt{};
};

enum class Handshake : std::uint8_t {
  none,
  slack,
  discord,
  zoom,
  braintree,
  sns,
  notion,
  twitch,
  meta,
  query_challenge,  // GET ?challenge=... is echoed: Dropbox, Nylas
  asana,
  twitter,
  head_probe,  // HEAD is answered 200: Trello
  graph,
  okta,
  monday,
};

inline constexpr std::size_t kMaxIdParts = 4;

// Where the identity of an event is in its request. A place is "header:NAME", "json:/pointer",
// "form:NAME" or "query:NAME"; "header:A,B" uses the first header present; "jwt:HEADER:/pointer" is
// a member of the token in that header. An empty place is unused. Plain data, so presets can be a
// table.
struct IdentityRule {
  // One place, or several for a composite id: all of them are required. "none": the sender provides
  // no id; every request is a new event.
  std::array<std::string_view, kMaxIdParts> id{};
  // "hash:/a,/b": when `id` is absent, the hash of these parts of a JSON body, all required. An
  // unusable id (empty, too long, wrong type, repeated) is still rejected.
  std::string_view id_fallback = {};
  std::string_view type = {};       // empty if missing or unusable
  std::string_view order_key = {};  // deliveries that share it stay in order; empty likewise
  std::string_view version = {};    // an integer or RFC 3339 time; anything else is ignored
  std::string_view tenant = {};     // required if a place is given
  // "json:/*", "json:/items/*/item": one request carries many events. The JSON places above are
  // then resolved in each of them.
  std::string_view split = {};
  std::size_t split_max = 1000;
};

// A provider preset.
struct Preset {
  std::string_view name = {};      // "stripe": the name in the configuration
  std::string_view provider = {};  // provider name; several presets may share it
  std::string_view scheme = {};    // the provider's signature scheme; unique within a provider
  Scheme verify{};
  IdentityRule identity{};
  bool id_signed = false;    // a captured request cannot be replayed under another id
  bool time_signed = false;  // nor after the time window
  // How long the sender retries; `remember` must be longer.
  std::chrono::seconds sender_retries{std::chrono::hours(72)};
  std::chrono::seconds remember{std::chrono::hours(30 * 24)};
  Handshake handshake = Handshake::none;
  std::string_view note = {};  // a note for users, one sentence
};

}  // namespace hapax
