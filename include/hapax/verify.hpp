// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>
#include <hapax/identify.hpp>
#include <hapax/reason.hpp>
#include <hapax/request.hpp>
#include <hapax/result.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Checks that a request was sent by who holds the secret, over the exact bytes received.
//
//   const auto verdict = hapax::verify(hapax::preset("stripe"), secrets, request, now);
//   if (verdict && verdict->authentic()) ...
namespace hapax {

enum class Algorithm : std::uint8_t {
  none,  // unsigned: every request is authentic. Never a default
  hmac_md5,
  hmac_sha1,
  hmac_sha256,
  hmac_sha384,
  hmac_sha512,
  sha256,  // a plain hash of a message that holds the secret
  ed25519,
  ecdsa_p256,  // over SHA-256, the signature in DER
  rsa_sha256,  // PKCS #1 v1.5
  token,       // the secret itself is sent
  basic,       // HTTP Basic; the secret is "user:password"
  jwt,         // a signed token that holds a hash of the body
  aws_sns,     // fields of the body, RSA
};

enum class Encoding : std::uint8_t { hex, base64, base64url };

// How a secret is written down.
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
  std::string_view prefix = {};  // "whsec_": taken off when it is there
};

// Where signatures are, and how they are written. A value may be a list: with `item` = ',' and
// `pair` = '=', "t=1760000000,v1=5257a8...,v1=..." has the labels t and v1.
struct SignaturePlace {
  std::string_view at = {};  // "header:NAME", "json:/pointer", "form:NAME". "header:NAME*": all
                             // that start so ("X-DocuSign-Signature-1")
  Encoding encoding = Encoding::hex;
  std::string_view prefix = {};  // "sha256=": required before the signature
  char item = 0;                 // between the items of a list; 0: there is one signature
  char pair = 0;                 // between a label and its value
  std::string_view label =
      {};  // the items that are signatures; "{key_id}" stands for Context::key_id
  std::string_view time_label = {};  // the item that is the timestamp
  char set = 0;                      // between whole lists, each with a timestamp of its own
  bool time_first = false;           // the first item is the timestamp, without a label
  bool spaces = false;               // spaces around items are ignored
  bool first_only = false;           // of several items with the label only the first counts
  int secret = -1;                   // signed by the secret of this index only; -1: by any of them
};

enum class TimeFormat : std::uint8_t {
  unix_seconds,
  unix_milliseconds,
  rfc3339,
  utc_without_zone,  // "2025-10-09T08:53:20.808"
  http_date,
  opaque,  // signed as text of at most 64 letters, digits and ":.+-"; its value is not looked at
};

inline constexpr std::chrono::milliseconds kNoLimit{-1};

struct TimePlace {
  std::string_view at =
      {};  // "header:NAME", "json:/pointer" (a number), or "item": see SignaturePlace
  TimeFormat format = TimeFormat::unix_seconds;
  std::chrono::milliseconds past = kNoLimit;    // how old it may be
  std::chrono::milliseconds future = kNoLimit;  // how far ahead of our clock
};

struct JwtRule {
  std::array<std::string_view, 3> algorithms{};  // "HS256", "HS384", "HS512", "ES256"
  std::string_view issuer = {};                  // "{key_id}" stands for Context::key_id
  std::string_view body_claim = {};              // holds the SHA-256 of the body
  Encoding body_encoding = Encoding::hex;
  std::string_view url_claim = {};  // holds the URL
  bool url_hashed = false;          // or the hex SHA-256 of it
  std::string_view required = {};   // a claim that must be there
  std::chrono::seconds skew{0};
  std::chrono::seconds max_age{0};  // since "iat"; 0: not looked at
};

// What the handshake of a provider signs for anyone who asks. Such a message proves nothing about
// its sender, so it is never accepted as that of an event.
enum class Challenge : std::uint8_t {
  none,
  short_hex,    // 20 to 32 lower-case hexadecimal digits
  base64_text,  // up to 1024 letters, digits and "+/=_.-"
};

struct RequiredHeader {
  std::string_view name = {};
  std::string_view value = {};  // "{key_id}" stands for Context::key_id
};

// How a provider signs, as plain data. The views must outlive the making of a Verifier, not the
// Verifier.
//
// A message is a text with {placeholders}:
//   {body} {method} {url} {path}    path: with the query
//   {time}                          the timestamp, as it is written
//   {secret} {key_id} {param:NAME}  from the configuration
//   {header:NAME} {query:NAME}      must be there once
//   {json:/pointer} {form:NAME}     the same; {json?:/pointer}: empty when it is not there. A JSON
//                                   value must not hold the text that stands beside it, so that
//                                   one message cannot be cut in two ways; {json*:/pointer} may
//   {body:sha256} {body:sha256_hex} {body:crc32}  of the body; crc32 in decimal
//   {body:inflated}                 the body without its Content-Encoding: gzip
//   {body:ascii}                    JSON with every other character as \uXXXX, and '/' as \/
//   {body:item:/pointer}            the exact bytes of one JSON value
//   {form:sorted} {form:sorted_unique}  name and value of each field, ordered by name
//   {form:base64:NAME}              a form field of base64 letters and line ends only
//   {query:sorted}                  the query, fields ordered by name
//   {url:port} {url:no_port}        with the port written out, without it
//   {url:hubspot}                   with the percent-codes decoded that HubSpot decodes
//   {url:plivo}                     as Plivo orders it
//   {headers:NAME}                  "name:value" of the headers that header NAME lists; that of
//                                   the timestamp must be one of them
struct Scheme {
  Algorithm algorithm = Algorithm::hmac_sha256;
  std::array<SignaturePlace, 2> signatures{};
  std::array<std::string_view, 2> messages{};  // any one may be what was signed
  TimePlace time{};
  SecretRule secret{};
  Challenge challenge = Challenge::none;
  bool hashed_twice = false;   // the SHA-256 of the message is signed in its place
  std::string_view each = {};  // "json:/items/*/item": every element is signed on its own
  std::array<RequiredHeader, 2> required{};
  std::string_view body_hash_query = {};  // this query parameter is the hex SHA-256 of the body
  // Headers that start with the first are also looked for with the second in its place.
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

// What hapax knows about a provider.
struct Preset {
  std::string_view name = {};      // "stripe": the word in the configuration
  std::string_view provider = {};  // whose it is; several presets may share a provider
  std::string_view scheme = {};    // the provider's way of signing; unique within a provider
  Scheme verify{};
  IdentityRule identity{};
  bool id_signed = false;    // a captured request cannot be sent again under another id
  bool time_signed = false;  // nor later than the window
  // How long the sender tries. `remember` has to be longer.
  std::chrono::seconds sender_retries{std::chrono::hours(72)};
  std::chrono::seconds remember{std::chrono::hours(30 * 24)};
  Handshake handshake = Handshake::none;
  std::string_view note = {};  // what a user should know, one sentence
};

// All of them, ordered by name.
HAPAX_API std::span<const Preset> presets() noexcept;
// The one called `name`, or nullptr.
HAPAX_API const Preset* preset(std::string_view name) noexcept;

// What else a scheme may need to know.
struct Context {
  std::string_view key_id = {};  // the provider's name for the secret
  // {param:NAME}. Of Amazon SNS: every "topic" is one whose messages are taken; none: all.
  std::span<const Header> parameters = {};
};

struct Verdict {
  Reason reason = Reason::none;
  std::string detail;                 // what exactly, for logs; never a secret or a payload
  std::size_t secret = 0;             // which secret matched
  std::optional<WallTime> signed_at;  // the signed time, when the scheme has one
  bool authentic() const noexcept { return reason == Reason::none; }
};

// A scheme with its secrets, made ready. Immutable: any number of threads may use one.
class HAPAX_API Verifier {
 public:
  // Several secrets: any may match (rotation). misconfigured: the scheme cannot be understood or
  // lacks a key id or parameter. invalid_argument: a secret is empty or not written as it has to
  // be; the text says which one and why, and never shows it.
  static Result<Verifier> make(const Scheme& scheme, std::span<const std::string> secrets,
                               const Context& context = {});
  // One that has no secret yet and refuses everything.
  static Result<Verifier> make_refusing(const Scheme& scheme, const Context& context = {});
  ~Verifier();
  Verifier(Verifier&&) noexcept;
  Verifier& operator=(Verifier&&) noexcept;

  // Never fails on any bytes: what is wrong is in the verdict. Signatures are compared in constant
  // time. Allocates nothing for an authentic request of an HMAC scheme over body and headers.
  Verdict verify(const Request& request, WallTime now, Scratch& scratch) const;

  struct Parts;  // how it is built

 private:
  explicit Verifier(std::unique_ptr<const Parts> parts);
  std::unique_ptr<const Parts> parts_;
};

// One request, once. A null preset (an unknown name) is misconfigured.
HAPAX_API Result<Verdict> verify(const Preset* preset, std::span<const std::string> secrets,
                                 const Request& request, WallTime now, const Context& context = {});

struct OwnedHeader {
  std::string name;
  std::string value;
};

// What to send.
struct Signed {
  std::vector<OwnedHeader> headers;  // to add to the request's own
  std::string body;                  // differs from the request's where the signature is in it
  std::string url;                   // differs where the URL holds a hash of the body
};

// Signs `request` as the provider would, at `now`. Headers that the scheme signs and the request
// lacks (an id) are made from `id`. For public-key schemes the secret is the private key in PEM. A
// signature inside the body replaces a string that is already at its place. misconfigured: nobody
// but the provider can sign this (AWS SNS), or a part is missing.
HAPAX_API Result<Signed> sign(const Scheme& scheme, const std::string& secret,
                              const Request& request, std::string_view id, WallTime now,
                              const Context& context = {});

// Why a request that did not verify probably did not, most likely first, in sentences for the
// person who configures it. Tries what usually goes wrong: bytes changed on the way, a secret in
// another encoding, a clock, another provider's scheme. Costs many verifications: never on the way
// of a request, and never in a public answer.
HAPAX_API std::vector<std::string> explain(const Scheme& scheme,
                                           std::span<const std::string> secrets,
                                           const Request& request, WallTime now,
                                           const Context& context = {});

}  // namespace hapax
