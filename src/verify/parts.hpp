// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "verify/public_key.hpp"
#include "verify/signature.hpp"

#include <hapax/verify.hpp>

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace hapax {

namespace verify_detail {

// One secret, ready for use. Which member is set follows from the algorithm.
struct Secret {
  std::string text;  // for tokens, Basic credentials and plain hashes
  std::optional<HmacKey> hmac;
  std::optional<PublicKey> key;
};

// Decodes `text`. invalid_argument: it does not have the form of the rule.
Result<std::string> key_bytes(std::string_view text, const SecretRule& rule);

Result<Secret> make_secret(const Scheme& scheme, const std::string& text);

std::optional<Hash> hmac_hash(Algorithm algorithm);
std::optional<KeyKind> key_kind(Algorithm algorithm);

struct Jwt {
  std::vector<std::string> algorithms;
  std::string issuer;
  std::string body_claim;
  Encoding body_encoding = Encoding::hex;
  std::string url_claim;
  bool url_hashed = false;
  std::string required;
  std::chrono::seconds skew{0};
  std::chrono::seconds max_age{0};
};

}  // namespace verify_detail

// A compiled scheme that owns its text, with its secrets.
struct Verifier::Parts {
  Algorithm algorithm = Algorithm::none;
  std::vector<verify_detail::Place> places;
  std::vector<verify_detail::Message> messages;
  TimePlace time{};  // without `at`; see the next two
  bool time_in_list = false;
  std::optional<Field> time_field;
  Challenge challenge = Challenge::none;
  bool hashed_twice = false;
  std::string each;  // a JSON pointer with '*'
  std::vector<OwnedHeader> required;
  std::string body_hash_query;
  std::array<std::string, 2> alias;
  std::array<std::string, 2> certificate_url;
  verify_detail::Jwt jwt;
  std::string key_id;
  std::vector<OwnedHeader> parameters;
  std::vector<verify_detail::Secret> secrets;

  // Compiles the scheme, without secrets.
  static Result<Parts> make(const Scheme& scheme, const Context& context);
};

namespace verify_detail {

Verdict refused(Failure failure);

Verdict verify_jwt(const Verifier::Parts& parts, const Request& request, WallTime now);
Verdict verify_sns(const Verifier::Parts& parts, const Request& request, Scratch& scratch);

// Whether it is https://sns.REGION.amazonaws.com[.cn]/...: other AWS hosts may belong to any
// customer.
bool is_sns_url(std::string_view url);

// The signed text of an SNS message. nullopt if a field is missing, repeated, not a string, or
// contains a line break where it must not.
std::optional<std::string> sns_message(JsonReader& json);

}  // namespace verify_detail

}  // namespace hapax
