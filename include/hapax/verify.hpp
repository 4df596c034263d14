// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

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

// Verifies that a request was sent by a holder of the secret, over the exact bytes received.
//
//   const auto verdict = hapax::verify(hapax::preset("stripe"), secrets, request, now);
//   if (verdict && verdict->authentic()) ...
namespace hapax {

struct Header {
  std::string_view name = {};  // compared without regard to case
  std::string_view value = {};
};

// One request exactly as it was received. Views only; the viewed bytes must outlive the call.
// Nothing is decoded, trimmed or reordered, because signatures cover these bytes.
struct Request {
  std::string_view method = "POST";
  // The complete URL as the sender called it; behind a proxy, the public one
  // ("https://hooks.example.com/in/twilio?x=1"). Only some schemes sign it.
  std::string_view url = {};
  std::span<const Header> headers = {};
  std::string_view body = {};
  // The number of readable bytes after the body (their values do not matter). With kBodyPadding or
  // more a JSON body is parsed in place; with fewer it is copied first.
  std::size_t body_padding = 0;
};

inline constexpr std::size_t kBodyPadding = 64;

class JsonReader;

// Reusable buffers for reading requests. One per thread.
class HAPAX_API Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(Scratch&&) noexcept;
  Scratch& operator=(Scratch&&) noexcept;

  JsonReader& json() { return *json_; }

 private:
  std::unique_ptr<JsonReader> json_;
};

// Why a request is rejected. The same name is used in problem documents, logs, metrics and the
// output of `hapax verify`.
enum class Reason : std::uint8_t {
  none,                      // nothing is wrong
  signature_missing,         // no signature, or a part that the scheme needs is missing
  signature_invalid,         // the signature does not match the request for any secret
  timestamp_outside_window,  // correctly signed, but too old or too far in the future
  header_malformed,          // a header that the scheme reads is repeated or malformed
  payload_unreadable,        // the body does not have the format of the scheme or identity rule
  id_missing,                // no event id
  id_ambiguous,              // two event ids
  body_too_large,            // more items than the source accepts
};

// "signature-missing" and so on; "" for none.
HAPAX_API std::string_view name(Reason reason) noexcept;
// The HTTP status of the response to a rejected request; 200 for none.
HAPAX_API int http_status(Reason reason) noexcept;

// All presets, ordered by name.
HAPAX_API std::span<const Preset> presets() noexcept;
// The preset called `name`, or nullptr.
HAPAX_API const Preset* preset(std::string_view name) noexcept;

// Additional parameters of a scheme.
struct Context {
  std::string_view key_id = {};  // the provider's name for the secret
  // {param:NAME}. For Amazon SNS, each "topic" is an accepted ARN; none: all.
  std::span<const Header> parameters = {};
};

// Work done by a verification; bounded for any request.
struct Work {
  std::size_t digests = 0;         // hashes of a message
  std::size_t inflations = 0;      // of a compressed body
  std::size_t inflated_bytes = 0;  // total decompressed size
};

// Maximum decompressed size of a compressed body, where a scheme signs the decompressed bytes.
inline constexpr std::size_t kMaxInflated = 16UL << 20;
// Maximum ratio of decompressed to compressed size; 64 KiB are allowed at any ratio. JSON stays
// below it; zeros reach 1000.
inline constexpr std::size_t kMaxInflatedRatio = 100;

struct Verdict {
  Reason reason = Reason::none;
  std::string detail;                 // details for logs; never a secret or a payload
  std::size_t secret = 0;             // which secret matched
  std::optional<WallTime> signed_at;  // the signed time, if the scheme has one
  Work work = {};
  bool authentic() const noexcept { return reason == Reason::none; }
};

// A compiled scheme with its secrets. Immutable: any number of threads may use one.
class HAPAX_API Verifier {
 public:
  // Several secrets: any may match (rotation). misconfigured: the scheme is invalid or lacks a key
  // id or parameter. invalid_argument: a secret is empty or malformed; the message says which one
  // and why, and never shows it.
  static Result<Verifier> make(const Scheme& scheme, std::span<const std::string> secrets,
                               const Context& context = {});
  // A verifier without a secret; rejects everything.
  static Result<Verifier> make_refusing(const Scheme& scheme, const Context& context = {});
  ~Verifier();
  Verifier(Verifier&&) noexcept;
  Verifier& operator=(Verifier&&) noexcept;

  // Never fails, whatever the bytes; problems are in the verdict. Signatures are compared in
  // constant time. Allocates nothing for an authentic request of an HMAC scheme over body and
  // headers.
  Verdict verify(const Request& request, WallTime now, Scratch& scratch) const;

  // Limits the size of decompressed bodies; kMaxInflated and kMaxInflatedRatio apply as well. Must
  // not be called while another thread verifies.
  void limit_inflated(std::size_t bytes) { max_inflated_ = bytes; }

  struct Parts;  // implementation

 private:
  explicit Verifier(std::unique_ptr<const Parts> parts);
  std::unique_ptr<const Parts> parts_;
  std::size_t max_inflated_ = kMaxInflated;
};

// Verifies a single request. A null preset (an unknown name) is misconfigured.
HAPAX_API Result<Verdict> verify(const Preset* preset, std::span<const std::string> secrets,
                                 const Request& request, WallTime now, const Context& context = {});

struct OwnedHeader {
  std::string name;
  std::string value;
};

// The signed request.
struct Signed {
  std::vector<OwnedHeader> headers;  // headers to add
  std::string body;                  // changed if the signature is in the body
  std::string url;                   // changed if the URL contains a hash of the body
};

// Signs `request` as the provider would, at `now`. Missing signed headers (such as an id) are
// created from `id`. For public-key schemes the secret is the private key, in PEM or for Ed25519
// also in base64. A signature inside the body replaces a string that is already at its place.
// misconfigured: only the provider can sign this (AWS SNS), or a part is missing.
HAPAX_API Result<Signed> sign(const Scheme& scheme, const std::string& secret,
                              const Request& request, std::string_view id, WallTime now,
                              const Context& context = {});

// Explains why a request failed verification: likely causes, most likely first, as sentences for
// operators. It tries common mistakes: bytes changed in transit, a secret in another encoding,
// clock skew, another provider's scheme. It runs many verifications: never call it while serving a
// request or show its result publicly.
HAPAX_API std::vector<std::string> explain(const Scheme& scheme,
                                           std::span<const std::string> secrets,
                                           const Request& request, WallTime now,
                                           const Context& context = {});

inline constexpr std::size_t kMaxChallenge = 1024;  // longer challenges are not echoed

// The response to a provider's handshake.
struct HandshakeAnswer {
  int status = 200;
  std::string content_type;  // empty: no body
  std::string body;
  std::vector<OwnedHeader> headers;
  // The secret that the provider sends in its handshake (Asana, Notion). The caller decides whether
  // to accept it and must not store it otherwise.
  std::string secret;
  // Amazon SNS: GET this URL to subscribe. It is verified to be a URL of Amazon SNS.
  std::string confirm_url;
};

// Returns the response if `request` is a handshake of `preset`, nullopt if it is an ordinary
// request. A signed handshake must be authentic; otherwise nullopt is returned and normal
// verification rejects the request. Meta's verify token is the parameter "verify_token" of
// `context`.
HAPAX_API std::optional<HandshakeAnswer> answer_handshake(const Preset& preset,
                                                          std::span<const std::string> secrets,
                                                          const Request& request, WallTime now,
                                                          const Context& context = {});

}  // namespace hapax
