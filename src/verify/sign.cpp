// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/ascii.hpp"
#include "base/base64.hpp"
#include "base/form.hpp"
#include "base/hex.hpp"
#include "base/json_text.hpp"
#include "base/try.hpp"
#include "verify/parts.hpp"

#include <hapax/verify.hpp>

#include <algorithm>

namespace hapax {

namespace verify_detail {

namespace {

Error cannot_sign(std::string_view why) {
  return Error(Code::misconfigured, "cannot sign for this scheme: " + std::string(why));
}

// The key material of one secret.
struct SigningKey {
  std::string bytes;
  std::optional<PublicKey> key;
};

Result<SigningKey> make_signing_key(const Scheme& scheme, const std::string& secret) {
  HAPAX_TRY_ASSIGN(bytes, key_bytes(secret, scheme.secret));
  if (bytes.empty()) return Error(Code::invalid_argument, "the secret is empty");
  std::optional<KeyKind> kind = key_kind(scheme.algorithm);
  if (scheme.algorithm == Algorithm::jwt && scheme.jwt.algorithms[0] == "ES256") {
    kind = KeyKind::ecdsa_p256;
  }
  if (!kind) return SigningKey{std::move(bytes), std::nullopt};
  if (bytes.starts_with("whsk_")) bytes.erase(0, 5);
  HAPAX_TRY_ASSIGN(key, PublicKey::make_private(*kind, bytes));
  return SigningKey{{}, std::move(key)};
}

// Signs one request: first adds the signed headers and the time, then renders the message and
// stores its signature.
class Signing {
 public:
  Signing(const Verifier::Parts& parts, const SigningKey& key, const Request& request,
          std::string_view id, WallTime now)
      : parts_(parts), key_(key), request_(request), id_(id), now_(now) {
    signed_.body = request.body;
    signed_.url = request.url;
  }

  Result<Signed> run();

 private:
  Result<void> sign_body();
  Result<void> sign_each();
  Result<void> sign_jwt();
  Result<std::string> signature_of(const std::string& message) const;
  Result<std::string> message(JsonReader* item);
  Result<std::string> place_text(const Place& place, JsonReader* item);
  Result<void> put(const Place& place, const std::string& text);
  Result<void> put_in_json(const Place& place, const std::string& text, std::string_view document);
  void put_in_form(const Place& place, const std::string& text);
  void add_signed_headers();
  void add_header(std::string_view name, std::string value);
  bool has_header(std::string_view name) const;
  Request current();

  const Verifier::Parts& parts_;
  const SigningKey& key_;
  const Request& request_;
  const std::string_view id_;
  const WallTime now_;
  std::string time_;
  Signed signed_;
  std::vector<Header> headers_;  // referenced by the result of current()
  JsonReader json_;
};

Request Signing::current() {
  headers_.assign(request_.headers.begin(), request_.headers.end());
  for (const OwnedHeader& each : signed_.headers) headers_.push_back({each.name, each.value});
  return {request_.method, signed_.url, headers_, signed_.body, 0};
}

bool Signing::has_header(std::string_view name) const {
  const auto is = [name](const auto& header) { return equal_ignoring_case(header.name, name); };
  return std::any_of(request_.headers.begin(), request_.headers.end(), is) ||
         std::any_of(signed_.headers.begin(), signed_.headers.end(), is);
}

void Signing::add_header(std::string_view name, std::string value) {
  if (!has_header(name)) signed_.headers.push_back({std::string(name), std::move(value)});
}

// Adds what the message covers, before it is rendered: headers, time and the hash in the URL.
void Signing::add_signed_headers() {
  for (const OwnedHeader& required : parts_.required) add_header(required.name, required.value);
  if (!parts_.certificate_url[0].empty()) {
    add_header(parts_.certificate_url[0], "https://api." + parts_.certificate_url[1] + "/cert");
  }
  time_ = write_time(now_, parts_.time.format);
  if (parts_.time_field && parts_.time_field->from == Field::From::header) {
    add_header(parts_.time_field->name, time_);
    time_ = find_header(current(), parts_.time_field->name).text;
  }
  for (const Message& each : parts_.messages) {
    for (const std::string& name : each.headers()) add_header(name, std::string(id_));
    for (const std::string& list : each.listed_headers()) {
      add_header(list, list + "," + (parts_.time_field ? parts_.time_field->name : list));
    }
  }
  if (!parts_.body_hash_query.empty()) {
    signed_.url += signed_.url.find('?') == std::string::npos ? '?' : '&';
    signed_.url +=
        parts_.body_hash_query + "=" + to_hex(hash_of(Hash::sha256, signed_.body).view());
  }
}

Result<std::string> Signing::message(JsonReader* item) {
  const Request request = current();
  const Headers headers(request, parts_.alias);
  FieldReader fields(request, json_);
  const Ingredients from{request,       headers,           fields, time_, key_.bytes,
                         parts_.key_id, parts_.parameters, item};
  StringSink sink;
  if (const MaybeFailure failure = parts_.messages.front().render(from, sink)) {
    return cannot_sign(failure->detail);
  }
  return std::move(sink.text);
}

Result<std::string> Signing::signature_of(const std::string& message) const {
  if (key_.key) {
    const std::string hashed =
        parts_.hashed_twice ? std::string(hash_of(Hash::sha256, message).view()) : message;
    const bool pure = parts_.algorithm == Algorithm::ed25519;
    const auto made = key_.key->sign(pure ? SignatureHash::none : SignatureHash::sha256, hashed);
    if (!made) return cannot_sign("the key does not sign");
    return *made;
  }
  const std::optional<Hash> hash = hmac_hash(parts_.algorithm);
  if (!hash) return std::string(hash_of(Hash::sha256, message).view());
  const HmacKey key(*hash, key_.bytes);
  Hashing hashing = key.begin();
  hashing.add(message);
  return std::string(key.finish(hashing).view());
}

// The complete value of the place: the signature with prefix, label and time.
Result<std::string> Signing::place_text(const Place& place, JsonReader* item) {
  if (parts_.algorithm == Algorithm::token) return key_.bytes;
  HAPAX_TRY_ASSIGN(what, message(item));
  HAPAX_TRY_ASSIGN(bytes, signature_of(what));
  std::string text = place.prefix + encode(bytes, place.encoding);
  if (place.pair != 0) text = place.label + place.pair + text;
  if (place.time_first) text = time_ + place.item + text;
  if (!place.time_label.empty()) {
    text = place.time_label + place.pair + time_ + place.item + text;
  }
  return text;
}

Result<void> Signing::put(const Place& place, const std::string& text) {
  switch (place.from) {
    case Field::From::header:
      signed_.headers.push_back({place.name + (place.numbered ? "1" : ""), text});
      return {};
    case Field::From::form:
      put_in_form(place, text);
      return {};
    case Field::From::json:
      return put_in_json(place, text, signed_.body);
    default:
      return cannot_sign("its signature is in the query");
  }
}

// Replaces the string at the place in `document`, which is a part of the body.
Result<void> Signing::put_in_json(const Place& place, const std::string& text,
                                  std::string_view document) {
  if (!json_.open(document, 0)) return cannot_sign("the body is not JSON");
  const JsonValue value = json_.at(place.name);
  if (value.status != JsonStatus::found || value.kind != JsonKind::string) {
    return cannot_sign("the body needs a string at '" + place.name + "' for the signature");
  }
  const auto offset = static_cast<std::size_t>(value.raw.data() - signed_.body.data());
  signed_.body.replace(offset, value.raw.size(), std::string("\"").append(text).append("\""));
  return {};
}

void Signing::put_in_form(const Place& place, const std::string& text) {
  if (!signed_.body.empty()) signed_.body += '&';
  signed_.body += place.name + "=";
  for (const char each : text) {
    const bool plain = is_alphanumeric_or("_", each);
    signed_.body += plain ? std::string(1, each) : "%" + to_hex({&each, 1});
  }
}

Result<void> Signing::sign_body() {
  const Place& place = parts_.places.front();
  HAPAX_TRY_ASSIGN(text, place_text(place, nullptr));
  return put(place, text);
}

Result<void> Signing::sign_each() {
  const Place& place = parts_.places.front();
  for (std::size_t i = 0;; ++i) {
    // Signing an item moves the items after it, so the list is read again.
    if (!json_.open(signed_.body, 0)) return cannot_sign("the body is not JSON");
    const JsonElements items = json_.each(parts_.each, 10000);
    if (items.status != JsonStatus::found || items.raw.empty()) {
      return cannot_sign("the body has no items at '" + parts_.each + "'");
    }
    if (i == items.raw.size()) return {};
    const std::string_view item = items.raw[i];
    JsonReader reader;
    if (!reader.open(item, 0)) return cannot_sign("an item is not JSON");
    HAPAX_TRY_ASSIGN(text, place_text(place, &reader));
    HAPAX_TRY(put_in_json(place, text, item));
  }
}

Result<void> Signing::sign_jwt() {
  const Jwt& rule = parts_.jwt;
  const std::string& algorithm = rule.algorithms.front();
  const std::string seconds = write_time(now_, TimeFormat::unix_seconds);
  std::string claims = "{\"iat\":" + seconds + ",\"nbf\":" + seconds + ",\"exp\":" +
                       write_time(now_ + std::chrono::seconds(300), TimeFormat::unix_seconds);
  const auto claim = [&claims](const std::string& name, std::string_view value) {
    if (!name.empty()) claims += "," + json_string(name) + ":" + json_string(value);
  };
  if (!rule.issuer.empty()) claim("iss", rule.issuer);
  claim(rule.required, id_);
  claim(rule.body_claim, encode(hash_of(Hash::sha256, signed_.body).view(), rule.body_encoding));
  claim(rule.url_claim,
        rule.url_hashed ? to_hex(hash_of(Hash::sha256, signed_.url).view()) : signed_.url);
  claims += "}";
  const std::string head = "{\"alg\":" + json_string(algorithm) + ",\"typ\":\"JWT\"}";
  std::string token = to_base64(head, Base64::url) + "." + to_base64(claims, Base64::url);
  std::string signature;
  if (key_.key) {
    const auto pair = key_.key->sign_pair(token);
    if (!pair) return cannot_sign("the key does not sign");
    signature = *pair;
  } else {
    const HmacKey key(Hash::sha256, key_.bytes);
    Hashing hashing = key.begin();
    hashing.add(token);
    signature = key.finish(hashing).view();
  }
  signed_.headers.push_back(
      {parts_.places.front().name, token + "." + to_base64(signature, Base64::url)});
  return {};
}

Result<Signed> Signing::run() {
  add_signed_headers();
  if (parts_.algorithm == Algorithm::basic) {
    add_header("Authorization", "Basic " + to_base64(key_.bytes));
  } else if (parts_.algorithm == Algorithm::jwt) {
    HAPAX_TRY(sign_jwt());
  } else if (!parts_.each.empty()) {
    HAPAX_TRY(sign_each());
  } else {
    HAPAX_TRY(sign_body());
  }
  return std::move(signed_);
}

}  // namespace

}  // namespace verify_detail

Result<Signed> sign(const Scheme& scheme, const std::string& secret, const Request& request,
                    std::string_view id, WallTime now, const Context& context) {
  if (scheme.algorithm == Algorithm::none) {
    return Signed{{}, std::string(request.body), std::string(request.url)};
  }
  if (scheme.algorithm == Algorithm::aws_sns) {
    return verify_detail::cannot_sign("only Amazon has the keys");
  }
  HAPAX_TRY_ASSIGN(parts, Verifier::Parts::make(scheme, context));
  HAPAX_TRY_ASSIGN(key, verify_detail::make_signing_key(scheme, secret));
  return verify_detail::Signing(parts, key, request, id, now).run();
}

}  // namespace hapax
