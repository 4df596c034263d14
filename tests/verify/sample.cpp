// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "verify/sample.hpp"

#include "base/base64.hpp"
#include "base/hex.hpp"
#include "model/field.hpp"
#include "verify/keys.hpp"

#include <array>
#include <map>
#include <stdexcept>

namespace hapax::test {

namespace {

constexpr std::string_view kKeyId = "key-1";
constexpr std::array<Header, 1> kParameters = {{{"webhook_id", "8PT597110X687430LKGECATA"}}};

// Three key pairs of each kind, generated once.
const std::vector<KeyPair>& key_pairs(Algorithm algorithm) {
  static std::map<Algorithm, std::vector<KeyPair>> made;
  std::vector<KeyPair>& pairs = made[algorithm];
  while (pairs.size() < 3) {
    const bool rsa = algorithm == Algorithm::rsa_sha256 || algorithm == Algorithm::aws_sns;
    pairs.push_back(algorithm == Algorithm::ed25519 ? make_ed25519()
                    : rsa                           ? make_rsa()
                                                    : make_p256());
  }
  return pairs;
}

// The i-th secret; no two secrets differ in only one bit.
std::string secret_of(const SecretRule& rule, std::size_t i) {
  constexpr std::array<std::string_view, 3> kWords = {"first", "second", "third"};
  const std::string word(kWords[i]);
  const std::string bytes = "the key material of the " + word;
  switch (rule.form) {
    case SecretForm::base64:
    case SecretForm::base64_if_prefixed:
      return std::string(rule.prefix) + to_base64(bytes);
    case SecretForm::hex:
      return to_hex(bytes);
    case SecretForm::text_nfkd:
      return "s\xc3\xa9"
             "cret of the " +
             word;
    default:
      return "s3cret:Of.The-" + word;
  }
}

constexpr std::string_view kJsonBody =
    R"({"id":"evt_1","type":"invoice.paid","created":1760000000,"data":{"object":{"id":"in_1"}}})";

// A body with the fields that the scheme reads. Percent codes have no letters, whose case could
// vary.
std::string body_for(std::string_view preset) {
  if (preset == "adyen") {
    const std::string item =
        R"({"NotificationRequestItem":{"additionalData":{"hmacSignature":""},"amount":{"currency":)"
        R"("EUR","value":1130},"eventCode":"AUTHORISATION","merchantAccountCode":"TestMerchant",)"
        R"("merchantReference":"Ref: 1","originalReference":"8515","pspReference":"7914",)"
        R"("success":"true"}})";
    return R"({"live":"false","notificationItems":[)" + item + "," + item + "]}";
  }
  if (preset == "mailgun") {
    return R"({"signature":{"timestamp":"1760000000","token":"a8ce0edb","signature":""},)"
           R"("event-data":{"id":"e1","event":"opened"}})";
  }
  if (preset == "figma") return R"({"passcode":"","event_type":"PING"})";
  if (preset == "microsoft-graph") {
    return R"({"value":[{"id":"1","clientState":""},{"id":"2","clientState":""}]})";
  }
  if (preset == "braintree") return "bt_payload=PG5vdGlmaWNhdGlvbj4x";
  if (preset == "twilio" || preset == "mandrill" || preset == "plivo") {
    return "Body=hello+world%21&From=15551234&To=15557654";
  }
  if (preset == "segment-batch") return R"([{"messageId":"a","type":"track"},{"messageId":"b"}])";
  if (preset == "linear") {
    return R"({"webhookTimestamp":1760000000000,"type":"Issue","data":{"id":"x"}})";
  }
  return std::string(kJsonBody);
}

}  // namespace

OwnedRequest::View::View(const OwnedRequest& of) {
  for (const OwnedHeader& each : of.headers) headers_.push_back({each.name, each.value});
  request_ = {of.method, of.url, headers_, of.body, 0};
}

std::string& OwnedRequest::header(std::string_view name) {
  for (OwnedHeader& each : headers) {
    if (equal_ignoring_case(each.name, name)) return each.value;
  }
  throw std::out_of_range("no header " + std::string(name));
}

bool OwnedRequest::has_header(std::string_view name) const {
  for (const OwnedHeader& each : headers) {
    if (equal_ignoring_case(each.name, name)) return true;
  }
  return false;
}

Context Sample::context() const {
  return {kKeyId, kParameters};
}

Result<OwnedRequest> Sample::sign(WallTime now) const {
  return sign(now, unsigned_request.body);
}

Result<OwnedRequest> Sample::sign(WallTime now, std::string_view body) const {
  OwnedRequest request = unsigned_request;
  request.body = body;
  const OwnedRequest::View view = request.view();
  Result<Signed> made =
      hapax::sign(preset->verify, signing_secret, *view, "msg_2b9f", now, context());
  if (!made) return made.error();
  for (OwnedHeader& each : made->headers) request.headers.push_back(std::move(each));
  request.body = std::move(made->body);
  request.url = std::move(made->url);
  return request;
}

Verifier Sample::verifier() const {
  Result<Verifier> made = Verifier::make(preset->verify, secrets, context());
  if (!made) throw std::runtime_error(made.error().to_string());
  return std::move(*made);
}

Sample sample_of(const Preset& preset) {
  Sample sample;
  sample.preset = &preset;
  // Each of Box's two keys has its own header; sign() writes the first one.
  if (preset.verify.signatures[0].secret >= 0) sample.right = 0;
  const bool asymmetric = preset.verify.secret.form == SecretForm::public_key;
  for (std::size_t i = 0; i < 3; ++i) {
    sample.secrets.push_back(asymmetric ? key_pairs(preset.verify.algorithm)[i].public_pem
                                        : secret_of(preset.verify.secret, i));
  }
  sample.signing_secret = asymmetric ? key_pairs(preset.verify.algorithm)[sample.right].private_pem
                                     : sample.secrets[sample.right];
  sample.unsigned_request.url = "https://hooks.example.com/in/sample?b=2&a=1";
  sample.unsigned_request.body = body_for(preset.name);
  return sample;
}

bool can_be_signed(const Preset& preset) {
  return preset.verify.algorithm != Algorithm::aws_sns &&
         preset.verify.algorithm != Algorithm::none;
}

std::vector<const Preset*> signable_presets() {
  std::vector<const Preset*> found;
  for (const Preset& each : presets()) {
    if (can_be_signed(each)) found.push_back(&each);
  }
  return found;
}

Verdict check(const Verifier& verifier, const OwnedRequest& request, WallTime now) {
  Scratch scratch;
  const OwnedRequest::View view = request.view();
  return verifier.verify(*view, now, scratch);
}

}  // namespace hapax::test
