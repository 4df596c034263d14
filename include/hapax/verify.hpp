// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Verifies that a request was sent by a holder of the secret, over the exact bytes received.
///
///     auto verdict = hapax::verify(hapax::preset("stripe"), secrets, request, now);
///     if (verdict && verdict->authentic()) ...
///
/// An authentic request may still be a repetition: deduplicate by its id (identify.hpp, store.hpp).

#include <hapax/env.hpp>
#include <hapax/error.hpp>
#include <hapax/scheme.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hapax {

/// One header of a request.
struct Header {
  std::string_view name = {};   ///< compared without regard to case
  std::string_view value = {};  ///< as received, without the white space around it
};

/// One request exactly as it was received. Views only: the bytes must live as long as the call, and
/// as long as views into them are used. Do not decode, parse, reserialize or trim anything first:
/// signatures cover these bytes.
struct Request {
  std::string_view method = "POST";  ///< in upper case
  /// The complete URL as the sender called it; behind a proxy, the public one
  /// ("https://hooks.example.com/in/twilio?x=1"). Only some schemes sign it.
  std::string_view url = {};
  std::span<const Header> headers = {};  ///< in order; a repeated name occurs repeatedly
  std::string_view body = {};            ///< still compressed if it was received so
  /// The number of readable bytes after the body (their values do not matter). With kBodyPadding or
  /// more a JSON body is parsed in place; with fewer it is copied first.
  std::size_t body_padding = 0;
};

/// See Request::body_padding.
inline constexpr std::size_t kBodyPadding = 64;

class JsonReader;

/// Reusable buffers for reading requests. One per thread; results do not refer to it.
class HAPAX_API Scratch {
 public:
  /// Empty buffers, which grow to the largest body read.
  Scratch();
  ~Scratch();
  /// Takes over the buffers of the other one, which may then only be destroyed or assigned to.
  Scratch(Scratch&&) noexcept;
  /// Takes over the buffers of the other one.
  Scratch& operator=(Scratch&&) noexcept;

  /// For hapax itself.
  JsonReader& json() { return *json_; }

 private:
  std::unique_ptr<JsonReader> json_;
};

/// Why a request is rejected. The same name is used in problem documents, logs, metrics and the
/// output of `hapax verify`. Verdict has none of the id_ reasons; those are for Item and Identified
/// (identify.hpp).
enum class Reason : std::uint8_t {
  none,                      ///< nothing is wrong
  signature_missing,         ///< no signature, or a part that the scheme needs is missing
  signature_invalid,         ///< the signature does not match the request for any secret
  timestamp_outside_window,  ///< correctly signed, but too old or too far in the future
  header_malformed,          ///< a header that the scheme reads is repeated or malformed
  payload_unreadable,        ///< the body does not have the format of the scheme or identity rule
  id_missing,                ///< no event id
  id_ambiguous,              ///< two event ids
  body_too_large,            ///< more items than accepted, or too large when decompressed
};

/// "signature-missing" and so on; "" for none. The view is valid forever.
HAPAX_API std::string_view name(Reason reason) noexcept;
/// The HTTP status of the response to a rejected request: 401 for the signature and the timestamp,
/// 413 for body_too_large, 400 for the others, 200 for none.
HAPAX_API int http_status(Reason reason) noexcept;

/// All presets, ordered by name. Valid forever.
HAPAX_API std::span<const Preset> presets() noexcept;
/// The preset called `name`, such as "stripe"; null if there is none. Valid forever.
HAPAX_API const Preset* preset(std::string_view name) noexcept;

/// Parameters that some schemes need besides the secret; see Preset::note.
struct Context {
  std::string_view key_id = {};  ///< the provider's name for the secret
  /// Values of {param:NAME} in the scheme. For Amazon SNS each "topic" is an accepted ARN, none:
  /// all topics. For Meta's handshake "verify_token" is the token that you chose.
  std::span<const Header> parameters = {};
};

/// Work done by a verification; bounded for any request.
struct Work {
  std::size_t digests = 0;         ///< hashes of a message
  std::size_t inflations = 0;      ///< decompressions of the body
  std::size_t inflated_bytes = 0;  ///< total size after decompression
};

/// Maximum decompressed size of a compressed body, where a scheme signs the decompressed bytes.
inline constexpr std::size_t kMaxInflated = 16UL << 20;
/// Maximum ratio of decompressed to compressed size; 64 KiB are allowed at any ratio. JSON stays
/// below it; zeros reach 1000.
inline constexpr std::size_t kMaxInflatedRatio = 100;

/// The result of a verification. A request that is not authentic is a verdict, not an error.
struct Verdict {
  Reason reason = Reason::none;       ///< why it is not authentic
  std::string detail;                 ///< one sentence for logs; never a secret or a payload
  std::size_t secret = 0;             ///< which secret matched: its index. Useful during a rotation
  std::optional<WallTime> signed_at;  ///< the signed time, if the scheme has one
  Work work = {};                     ///< what it cost
  /// Whether a holder of a secret has sent exactly this request.
  bool authentic() const noexcept { return reason == Reason::none; }
};

/// A compiled scheme with its secrets. Make one per source and keep it. Immutable: any number of
/// threads may use one.
class HAPAX_API Verifier {
 public:
  /// Compiles a scheme: `Verifier::make(preset->verify, secrets)`. Of several secrets any may
  /// match, for rotation. It copies what it needs; the arguments may be destroyed.
  ///
  /// misconfigured: the scheme is invalid, or lacks a key id or parameter. invalid_argument: there
  /// is no secret, one is empty or malformed, or a place of the scheme is. The detail says which
  /// and why, and never shows a secret.
  static Result<Verifier> make(const Scheme& scheme, std::span<const std::string> secrets,
                               const Context& context = {});
  /// A verifier without a secret, which rejects everything: for a source whose secret is still
  /// unknown. misconfigured also for Algorithm::none, which rejects nothing; others as in make().
  static Result<Verifier> make_refusing(const Scheme& scheme, const Context& context = {});
  ~Verifier();
  /// Takes over the other verifier, which may then only be destroyed or assigned to.
  Verifier(Verifier&&) noexcept;
  /// Takes over the other verifier.
  Verifier& operator=(Verifier&&) noexcept;

  /// Verifies one request at the time `now`, which decides whether its timestamp is in the window.
  /// Never fails, whatever the bytes; problems are in the verdict. Signatures are compared in
  /// constant time. Allocates nothing for an authentic request of an HMAC scheme over body and
  /// headers.
  Verdict verify(const Request& request, WallTime now, Scratch& scratch) const;

  /// Limits the size of decompressed bodies, in bytes; kMaxInflated and kMaxInflatedRatio apply as
  /// well. Must not be called while another thread verifies.
  void limit_inflated(std::size_t bytes) { max_inflated_ = bytes; }

  struct Parts;  // implementation

 private:
  explicit Verifier(std::unique_ptr<const Parts> parts);
  std::unique_ptr<const Parts> parts_;
  std::size_t max_inflated_ = kMaxInflated;
};

/// Verifies a single request. Convenient for tools; a server makes one Verifier per source, because
/// this compiles the scheme every time. A null preset (an unknown name) is misconfigured; other
/// errors as in Verifier::make. A request that is not authentic is not an error.
HAPAX_API Result<Verdict> verify(const Preset* preset, std::span<const std::string> secrets,
                                 const Request& request, WallTime now, const Context& context = {});

/// A header that owns its text.
struct OwnedHeader {
  std::string name;   ///< as in Header
  std::string value;  ///< as in Header
};

/// What sign() changes.
struct Signed {
  std::vector<OwnedHeader> headers;  ///< headers to add to those of the request
  std::string body;                  ///< changed only if the signature is in the body
  std::string url;                   ///< changed only if the URL contains a hash of the body
};

/// Signs `request` as the provider would, at the time `now`: for tests, and for sending webhooks in
/// a provider's format. Signed headers that are missing (such as an id) are created with the value
/// `id`. For public-key schemes the secret is the private key, in PEM or for Ed25519 also in
/// base64. A signature inside a JSON body replaces a string that is already at its place.
/// Algorithm::none changes nothing.
///
/// misconfigured: only the provider can sign this (Amazon SNS), a part of the request that is
/// signed is missing, or the scheme is invalid. invalid_argument: the secret is empty or malformed.
HAPAX_API Result<Signed> sign(const Scheme& scheme, const std::string& secret,
                              const Request& request, std::string_view id, WallTime now,
                              const Context& context = {});

/// Explains why a request failed verification: likely causes, most likely first, as sentences for
/// operators; none if it is authentic. It tries common mistakes: bytes changed in transit, a secret
/// in another encoding, clock skew, another provider's scheme. If the scheme or a secret cannot be
/// used, that is the answer. It runs many verifications: never call it while serving a request or
/// show its result publicly.
HAPAX_API std::vector<std::string> explain(const Scheme& scheme,
                                           std::span<const std::string> secrets,
                                           const Request& request, WallTime now,
                                           const Context& context = {});

/// Maximum length of a challenge; longer ones are not echoed.
inline constexpr std::size_t kMaxChallenge = 1024;

/// The response to a provider's handshake, the request that sets up or checks an endpoint.
struct HandshakeAnswer {
  int status = 200;          ///< 204 for Discord's events, 403 if Meta's verify token is wrong
  std::string content_type;  ///< empty: no body
  std::string body;          ///< of the response
  std::vector<OwnedHeader> headers;  ///< to add to the response
  /// The secret that the provider sends in its handshake (Asana, Notion), unauthenticated. The
  /// caller decides whether to accept it and must not store it otherwise.
  std::string secret;
  /// Amazon SNS: GET this URL to subscribe. It is verified to be a URL of Amazon SNS.
  std::string confirm_url;
};

/// Returns the response if `request` is a handshake of `preset`, nullopt if it is an ordinary
/// request. Never fails. A handshake that the provider signs must be authentic; otherwise nullopt
/// is returned and normal verification rejects the request. Text is echoed only if it is short and
/// plain ASCII without '<' and '>'.
HAPAX_API std::optional<HandshakeAnswer> answer_handshake(const Preset& preset,
                                                          std::span<const std::string> secrets,
                                                          const Request& request, WallTime now,
                                                          const Context& context = {});

}  // namespace hapax
