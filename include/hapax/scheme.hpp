// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Describes how a provider signs requests and identifies events, as plain data: for authors of
/// schemes and readers of presets. To verify with a preset, verify.hpp is enough.
///
/// All views must stay valid until Verifier::make or Identifier::make has returned, which check and
/// copy them. Presets use literals.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hapax {

/// How a request is authenticated.
enum class Algorithm : std::uint8_t {
  none,         ///< unsigned: every request is authentic. Never a default
  hmac_md5,     ///< HMAC with MD5
  hmac_sha1,    ///< HMAC with SHA-1
  hmac_sha256,  ///< HMAC with SHA-256
  hmac_sha384,  ///< HMAC with SHA-384
  hmac_sha512,  ///< HMAC with SHA-512
  sha256,       ///< a plain hash of a message that contains the secret
  ed25519,      ///< of the message itself
  ecdsa_p256,   ///< over SHA-256, the signature in DER
  rsa_sha256,   ///< PKCS #1 v1.5
  token,        ///< the secret itself is sent
  basic,        ///< HTTP Basic; the secret is "user:password"
  jwt,          ///< a signed token that contains a hash of the body; see JwtRule
  aws_sns,      ///< fields of the body, RSA
};

/// How a signature is written.
enum class Encoding : std::uint8_t {
  hex,        ///< of either case
  base64,     ///< with padding
  base64url,  ///< with '-' and '_', without padding
};

/// How a secret is written.
enum class SecretForm : std::uint8_t {
  text,                ///< its bytes are the key
  base64,              ///< with or without padding
  hex,                 ///< hexadecimal digits
  base64_if_prefixed,  ///< base64 with the prefix, text without it
  text_nfkd,           ///< text in Unicode's NFKD form; Latin letters only
  text_sha1,           ///< the key is the SHA-1 of the text
  text_sha256,         ///< the key is the SHA-256 of the text
  public_key,  ///< PEM (also a certificate), base64 SPKI, raw Ed25519 in hex or base64, or a JWK
};

/// How the key is obtained from the secret of the configuration.
struct SecretRule {
  SecretForm form = SecretForm::text;  ///< how it is written
  std::string_view prefix = {};        ///< "whsec_": removed if present
};

/// Where signatures are, and how they are encoded. A value may be a list: with `item` = ',' and
/// `pair` = '=', "t=1760000000,v1=5257a8...,v1=..." has the labels t and v1. A request with more
/// than 16 signatures is rejected.
struct SignaturePlace {
  /// "header:NAME", "json:/pointer", "form:NAME". "header:NAME*": all headers with that prefix
  /// ("X-DocuSign-Signature-1").
  std::string_view at = {};
  Encoding encoding = Encoding::hex;  ///< of the signature
  std::string_view prefix = {};       ///< "sha256=": required before the signature
  char item = 0;                      ///< between the items of a list; 0: there is one signature
  char pair = 0;                      ///< between a label and its value
  std::string_view label = {};        ///< of signature items; "{key_id}" stands for Context::key_id
  std::string_view time_label = {};   ///< label of the timestamp item
  char set = 0;                       ///< separates lists, each with its own timestamp
  bool time_first = false;            ///< the first item is the timestamp, without a label
  bool spaces = false;                ///< spaces around items are ignored
  bool first_only = false;            ///< only the first item with the label is used
  int secret = -1;                    ///< only the secret with this index signs it; -1: any of them
};

/// How a timestamp is written.
enum class TimeFormat : std::uint8_t {
  unix_seconds,       ///< since 1970, in decimal
  unix_milliseconds,  ///< since 1970, in decimal
  rfc3339,            ///< "2025-10-09T08:53:20Z"
  utc_without_zone,   ///< "2025-10-09T08:53:20.808"
  http_date,          ///< "Thu, 09 Oct 2025 08:53:20 GMT"
  opaque,  ///< signed as text of at most 64 letters, digits and ":.+-"; its value is not parsed
};

/// No limit in TimePlace.
inline constexpr std::chrono::milliseconds kNoLimit{-1};

/// Where the timestamp is, and how long a request is accepted. The window is checked after the
/// signature, so that Reason::timestamp_outside_window implies a valid signature.
struct TimePlace {
  /// "header:NAME", "json:/pointer" (a number), or "item": see SignaturePlace. Empty: no timestamp.
  std::string_view at = {};
  TimeFormat format = TimeFormat::unix_seconds;  ///< how it is written
  std::chrono::milliseconds past = kNoLimit;     ///< maximum age
  std::chrono::milliseconds future = kNoLimit;   ///< maximum clock skew
};

/// The token of Algorithm::jwt. "exp" and "nbf" are always checked if present.
struct JwtRule {
  std::array<std::string_view, 3> algorithms{};  ///< accepted: "HS256", "HS384", "HS512", "ES256"
  std::string_view issuer = {};                  ///< "iss"; "{key_id}" stands for Context::key_id
  std::string_view body_claim = {};              ///< contains the SHA-256 of the body; required
  Encoding body_encoding = Encoding::hex;        ///< of that hash
  std::string_view url_claim = {};               ///< contains the URL; empty: unchecked
  bool url_hashed = false;                       ///< or its hex SHA-256
  std::string_view required = {};                ///< a claim that must be present
  std::chrono::seconds skew{0};                  ///< tolerance for "exp" and "nbf"
  std::chrono::seconds max_age{0};               ///< since "iat"; 0: unchecked
};

/// Messages that a provider's handshake signs for anyone. They prove nothing about the sender, so
/// they are never accepted as events.
enum class Challenge : std::uint8_t {
  none,         ///< the handshake signs nothing
  short_hex,    ///< 20 to 32 lower-case hexadecimal digits
  base64_text,  ///< up to 1024 letters, digits and "+/=_.-"
};

/// A header that must be present exactly once with this value, besides the signature.
struct RequiredHeader {
  std::string_view name = {};   ///< of the header; empty: none
  std::string_view value = {};  ///< "{key_id}" stands for Context::key_id
};

/// How a provider signs. Verifier::make checks it; most schemes need only `algorithm`, a place and
/// a message.
///
/// A message is a text with {placeholders}. A part of a request that is missing, repeated or
/// malformed rejects the request.
///
///     {body} {method} {url} {path}    path: with the query
///     {time}                          the timestamp, verbatim
///     {secret} {key_id} {param:NAME}  from the configuration
///     {header:NAME} {query:NAME}      must occur exactly once
///     {json:/pointer} {form:NAME}     the same; {json?:/pointer}: empty if missing. A JSON value
///                                     must not contain the adjacent literal text, so that the
///                                     message splits in only one way. {json*:/pointer} may
///                                     contain it, and is empty if missing
///     {body:sha256} {body:sha256_hex} {body:crc32}  of the body; crc32 in decimal
///     {body:inflated}                 the body without its Content-Encoding: gzip
///     {body:ascii}                    JSON with non-ASCII characters and '/' escaped
///     {body:item:/pointer}            the exact bytes of one JSON value
///     {form:sorted} {form:sorted_unique}  name and value of each field, ordered by name
///     {form:base64:NAME}              a form field of base64 characters and line breaks only
///     {query:sorted}                  the query, fields ordered by name
///     {url:port} {url:no_port}        with an explicit port, without a port
///     {url:hubspot}                   with some percent-codes decoded, as HubSpot does
///     {url:plivo}                     with sorted query and form fields, as Plivo signs it
///     {headers:NAME}                  "name:value" of the headers that header NAME lists,
///                                     which must include the timestamp header
struct Scheme {
  Algorithm algorithm = Algorithm::hmac_sha256;  ///< how it is signed
  std::array<SignaturePlace, 2> signatures{};    ///< where signatures may be
  std::array<std::string_view, 2> messages{};    ///< either may be the signed message
  TimePlace time{};                              ///< the timestamp and its window
  SecretRule secret{};                           ///< how the secret is written
  Challenge challenge = Challenge::none;         ///< messages that are never accepted
  bool hashed_twice = false;   ///< public keys only: the SHA-256 of the message is signed instead
  std::string_view each = {};  ///< "json:/items/*": each element is signed separately
  std::array<RequiredHeader, 2> required{};  ///< headers that must have a value
  std::string_view body_hash_query = {};  ///< this query parameter is the hex SHA-256 of the body
  /// Alternative header prefix: headers starting with the first are also read with the second.
  std::array<std::string_view, 2> alias{};
  /// This header is an https URL of this domain ("paypal-cert-url", "paypal.com"). It is never
  /// fetched.
  std::array<std::string_view, 2> certificate_url{};
  JwtRule jwt{};  ///< for Algorithm::jwt
};

/// The handshake of a provider; see answer_handshake().
enum class Handshake : std::uint8_t {
  none,             ///< the provider has none
  slack,            ///< "url_verification": the challenge is echoed. Signed
  discord,          ///< PING is answered with PONG or 204. Signed
  zoom,             ///< "endpoint.url_validation": the token is signed. Signed
  braintree,        ///< GET ?bt_challenge=...: a challenge is signed
  sns,              ///< "SubscriptionConfirmation": HandshakeAnswer::confirm_url. Signed
  notion,           ///< the provider sends the secret: HandshakeAnswer::secret
  twitch,           ///< "webhook_callback_verification": the challenge is echoed. Signed
  meta,             ///< GET ?hub.challenge=... with hub.verify_token is echoed
  query_challenge,  ///< GET ?challenge=... is echoed: Dropbox, Nylas
  asana,            ///< the provider sends the secret: HandshakeAnswer::secret
  twitter,          ///< GET ?crc_token=...: the token is signed
  head_probe,       ///< HEAD is answered 200: Trello
  graph,            ///< POST ?validationToken=... is echoed: Microsoft Graph
  okta,             ///< GET with a challenge header, which is returned as JSON
  monday,           ///< the challenge of the body is returned as JSON
};

/// Maximum number of places of a composite id.
inline constexpr std::size_t kMaxIdParts = 4;

/// Where the identity of an event is in its request. A place is "header:NAME", "json:/pointer",
/// "form:NAME" or "query:NAME"; "header:A,B" uses the first header present; "jwt:HEADER:/pointer"
/// is a member of the token in that header. An empty place is unused. Identifier::make
/// (identify.hpp) checks it.
struct IdentityRule {
  /// One place, or several for a composite id: all of them are required. "none": the sender
  /// provides no id; every request is a new event.
  std::array<std::string_view, kMaxIdParts> id{};
  /// "hash:/a,/b": when `id` is absent, the hash of these parts of a JSON body, up to 16, all
  /// required. An unusable id (empty, too long, wrong type, repeated) is still rejected.
  std::string_view id_fallback = {};
  std::string_view type = {};       ///< of the event, for display; empty if missing or unusable
  std::string_view order_key = {};  ///< deliveries that share it stay in order; empty likewise
  std::string_view version = {};    ///< an integer or RFC 3339 time; anything else is ignored
  std::string_view tenant = {};     ///< required if a place is given
  /// "json:/*", "json:/items/*": one request carries many events. '*' stands for every element,
  /// also inside a pointer. The JSON places above are then resolved in each element, and at least
  /// one place of the id must be a JSON place.
  std::string_view split = {};
  std::size_t split_max = 1000;  ///< maximum number of events in a request: 1 to 100,000
};

/// What hapax knows of a provider. The values describe defaults of the server, which a
/// configuration can change.
struct Preset {
  std::string_view name = {};      ///< "stripe": the name in the configuration; unique
  std::string_view provider = {};  ///< provider name; several presets may share it
  std::string_view scheme = {};    ///< the provider's signature scheme; unique within a provider
  Scheme verify{};                 ///< how the provider signs
  IdentityRule identity{};         ///< how the provider identifies events
  bool id_signed = false;          ///< a captured request cannot be replayed under another id
  bool time_signed = false;        ///< a captured request cannot be replayed after the time window
  /// How long the sender retries; `remember` must be longer.
  std::chrono::seconds sender_retries{std::chrono::hours(72)};
  /// How long ids should be remembered.
  std::chrono::seconds remember{std::chrono::hours(30 * 24)};
  Handshake handshake = Handshake::none;  ///< how the provider sets up an endpoint
  std::string_view note = {};             ///< what users must know, one sentence; may be empty
};

}  // namespace hapax
