// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include <hapax/verify.hpp>

#include "base/base64.hpp"
#include "base/hex.hpp"
#include "base/json.hpp"
#include "model/field.hpp"
#include "verify/challenge.hpp"
#include "verify/hmac.hpp"
#include "verify/parts.hpp"

#include <algorithm>

namespace hapax {

namespace {

using verify_detail::Hash;
using verify_detail::hash_of;
using verify_detail::Hashing;
using verify_detail::HmacKey;
using verify_detail::is_challenge;
using Answer = std::optional<HandshakeAnswer>;

constexpr std::string_view kText = "text/plain";
constexpr std::string_view kJsonType = "application/json";

std::string hmac(Hash hash, std::string_view key_text, std::string_view message) {
  const HmacKey key(hash, key_text);
  Hashing hashing = key.begin();
  hashing.add(message);
  return std::string(key.finish(hashing).view());
}

// Printable ASCII without '<' and '>', so that echoed text cannot act as HTML, inject a header or
// break a JSON string.
bool is_plain(std::string_view text) {
  const auto is_letter = [](char c) { return c >= ' ' && c <= '~' && c != '<' && c != '>'; };
  return !text.empty() && text.size() <= kMaxChallenge &&
         std::all_of(text.begin(), text.end(), is_letter);
}

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

HandshakeAnswer answer(std::string_view content_type, std::string body) {
  HandshakeAnswer made;
  made.content_type = content_type;
  made.body = std::move(body);
  // Prevents a browser from guessing another content type.
  made.headers.push_back({"X-Content-Type-Options", "nosniff"});
  return made;
}

// Answers one handshake request.
class Asking {
 public:
  Asking(const Preset& preset, std::span<const std::string> secrets, const Request& request,
         WallTime now, const Context& context)
      : preset_(preset),
        secrets_(secrets),
        request_(request),
        now_(now),
        context_(context),
        fields_(request, scratch_.json()) {}

  Answer run();

 private:
  Answer slack();
  Answer discord();
  Answer zoom();
  Answer braintree();
  Answer sns();
  Answer notion();
  Answer twitch();
  Answer meta();
  Answer echo_query(std::string_view name);
  Answer asana();
  Answer twitter();
  Answer okta();
  Answer monday();

  bool is(std::string_view method) const { return request_.method == method; }
  std::string read(Field::From from, std::string_view name) {
    const FieldValue value = fields_.read({from, std::string(name)});
    return value.status == FieldStatus::found ? value.text : std::string();
  }
  std::string json(std::string_view pointer) { return read(Field::From::json, pointer); }
  std::string query(std::string_view name) { return read(Field::From::query, name); }
  std::string header(std::string_view name) { return read(Field::From::header, name); }

  // The secret that signed the request.
  std::optional<std::string> signer() {
    const Result<Verifier> verifier = Verifier::make(preset_.verify, secrets_, context_);
    if (!verifier) return std::nullopt;
    Scratch scratch;
    const Verdict verdict = verifier->verify(request_, now_, scratch);
    if (!verdict.authentic()) return std::nullopt;
    return secrets_[verdict.secret];
  }
  bool is_authentic() { return signer().has_value(); }

  // Whether to sign `challenge` for an unauthenticated sender: only messages that the verifier
  // never accepts as events.
  bool may_sign(std::string_view challenge) const {
    return is("GET") && is_challenge(preset_.verify.challenge, challenge) && !secrets_.empty();
  }

  const Preset& preset_;
  const std::span<const std::string> secrets_;
  const Request& request_;
  const WallTime now_;
  const Context& context_;
  Scratch scratch_;
  FieldReader fields_;
};

Answer Asking::run() {
  switch (preset_.handshake) {
    case Handshake::none:
      return std::nullopt;
    case Handshake::slack:
      return slack();
    case Handshake::discord:
      return discord();
    case Handshake::zoom:
      return zoom();
    case Handshake::braintree:
      return braintree();
    case Handshake::sns:
      return sns();
    case Handshake::notion:
      return notion();
    case Handshake::twitch:
      return twitch();
    case Handshake::meta:
      return meta();
    case Handshake::query_challenge:
      return is("GET") ? echo_query("challenge") : std::nullopt;
    case Handshake::asana:
      return asana();
    case Handshake::twitter:
      return twitter();
    case Handshake::head_probe:
      return is("HEAD") ? Answer(HandshakeAnswer{}) : std::nullopt;
    case Handshake::graph:
      return is("POST") ? echo_query("validationToken") : std::nullopt;
    case Handshake::okta:
      return okta();
    case Handshake::monday:
      return monday();
  }
  return std::nullopt;
}

Answer Asking::slack() {
  const std::string challenge = json("/challenge");
  if (!is("POST") || json("/type") != "url_verification" || !is_plain(challenge)) {
    return std::nullopt;
  }
  if (!is_authentic()) return std::nullopt;
  return answer(kText, challenge);
}

// Type 1 is the PING of an interaction. Type 0 is that of webhook events, which requires an empty
// response.
Answer Asking::discord() {
  const std::string type = json("/type");
  if (!is("POST") || (type != "1" && type != "0") || !is_authentic()) return std::nullopt;
  if (type == "1") return answer(kJsonType, R"({"type":1})");
  HandshakeAnswer made;
  made.status = 204;
  return made;
}

Answer Asking::zoom() {
  const std::string token = json("/payload/plainToken");
  if (!is("POST") || json("/event") != "endpoint.url_validation" ||
      !is_challenge(Challenge::base64_text, token)) {
    return std::nullopt;
  }
  const std::optional<std::string> secret = signer();
  if (!secret) return std::nullopt;
  const std::string proof = to_hex(hmac(Hash::sha256, *secret, token));
  return answer(kJsonType,
                R"({"encryptedToken":")" + proof + R"(","plainToken":)" + json_text(token) + "}");
}

Answer Asking::braintree() {
  const std::string challenge = query("bt_challenge");
  if (!may_sign(challenge)) return std::nullopt;
  const std::string key(hash_of(Hash::sha1, secrets_.front()).view());
  return answer(kText,
                std::string(context_.key_id) + "|" + to_hex(hmac(Hash::sha1, key, challenge)));
}

Answer Asking::sns() {
  const std::string url = json("/SubscribeURL");
  if (!is("POST") || json("/Type") != "SubscriptionConfirmation" || !is_authentic()) {
    return std::nullopt;
  }
  // The server fetches this URL, so it must be Amazon's.
  if (!verify_detail::is_sns_url(url)) return std::nullopt;
  HandshakeAnswer made;
  made.confirm_url = url;
  return made;
}

Answer Asking::notion() {
  const std::string token = json("/verification_token");
  if (!is("POST") || !is_plain(token) || !header("x-notion-signature").empty()) return std::nullopt;
  HandshakeAnswer made;
  made.secret = token;
  return made;
}

Answer Asking::twitch() {
  const std::string challenge = json("/challenge");
  if (header("twitch-eventsub-message-type") != "webhook_callback_verification" ||
      !is_plain(challenge) || !is_authentic()) {
    return std::nullopt;
  }
  return answer(kText, challenge);
}

Answer Asking::meta() {
  const std::string challenge = query("hub.challenge");
  if (!is("GET") || query("hub.mode") != "subscribe" || !is_plain(challenge)) return std::nullopt;
  for (const Header& each : context_.parameters) {
    if (each.name == "verify_token" && !each.value.empty() &&
        verify_detail::equal_in_constant_time(
            hash_of(Hash::sha256, query("hub.verify_token")).view(),
            hash_of(Hash::sha256, each.value).view())) {
      return answer(kText, challenge);
    }
  }
  HandshakeAnswer refused;
  refused.status = 403;
  return refused;
}

Answer Asking::echo_query(std::string_view name) {
  const std::string challenge = query(name);
  if (!is_plain(challenge)) return std::nullopt;
  return answer(kText, challenge);
}

Answer Asking::asana() {
  const std::string secret = header("x-hook-secret");
  if (!is("POST") || !is_plain(secret)) return std::nullopt;
  HandshakeAnswer made;
  made.secret = secret;
  made.headers.push_back({"X-Hook-Secret", secret});
  return made;
}

Answer Asking::twitter() {
  const std::string token = query("crc_token");
  if (!may_sign(token)) return std::nullopt;
  const std::string proof = to_base64(hmac(Hash::sha256, secrets_.front(), token));
  return answer(kJsonType, R"({"response_token":"sha256=)" + proof + R"("})");
}

Answer Asking::okta() {
  const std::string challenge = header("x-okta-verification-challenge");
  if (!is("GET") || !is_plain(challenge)) return std::nullopt;
  return answer(kJsonType, R"({"verification":)" + json_text(challenge) + "}");
}

Answer Asking::monday() {
  const std::string challenge = json("/challenge");
  if (!is("POST") || !is_plain(challenge)) return std::nullopt;
  return answer(kJsonType, R"({"challenge":)" + json_text(challenge) + "}");
}

}  // namespace

std::optional<HandshakeAnswer> answer_handshake(const Preset& preset,
                                                std::span<const std::string> secrets,
                                                const Request& request, WallTime now,
                                                const Context& context) {
  return Asking(preset, secrets, request, now, context).run();
}

}  // namespace hapax
