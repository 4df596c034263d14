// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// The input is used as a token, and as the claims of a correctly signed token, which reaches the
// code after the signature check. An unsigned token is never authentic.
#include "base/base64.hpp"
#include "base/check.hpp"
#include "verify/hmac.hpp"

#include <hapax/verify.hpp>

#include <cstdint>

namespace {

using namespace hapax;
using namespace hapax::verify_detail;

const std::string kSecret = "the secret of the fuzzer";

Verifier make(std::string_view name) {
  const std::vector<std::string> secrets = {kSecret};
  return std::move(*Verifier::make(preset(name)->verify, secrets, {"key", {}}));
}

Verdict check(const Verifier& verifier, std::string_view header, std::string_view token) {
  const Header headers[] = {{header, token}};
  const Request request{"POST", "https://h/", headers, "{}", 0};
  Scratch scratch;
  Verdict verdict =
      verifier.verify(request, WallTime(std::chrono::seconds(1'760'000'000)), scratch);
  HAPAX_CHECK(verdict.authentic() == verdict.detail.empty());
  HAPAX_CHECK(verdict.detail.find(kSecret) == std::string::npos);
  return verdict;
}

std::string signed_token(std::string_view claims) {
  const std::string text =
      to_base64(R"({"alg":"HS256"})", Base64::url) + "." + to_base64(claims, Base64::url);
  const HmacKey key(Hash::sha256, kSecret);
  Hashing hashing = key.begin();
  hashing.add(text);
  return text + "." + to_base64(key.finish(hashing).view(), Base64::url);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Verifier messagebird = make("messagebird-jwt");
  static const Verifier netlify = make("netlify");
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  HAPAX_CHECK(!check(messagebird, "messagebird-signature-jwt", input).authentic());
  HAPAX_CHECK(!check(netlify, "x-webhook-signature", input).authentic());
  const Verdict verdict = check(netlify, "x-webhook-signature", signed_token(input));
  HAPAX_CHECK(verdict.reason != Reason::signature_missing);
  // The claims are valid only with the hash of the body.
  constexpr std::string_view kHash =
      "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";
  std::string lower(input);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  if (lower.find("\\u") == std::string::npos && lower.find(kHash) == std::string::npos) {
    HAPAX_CHECK(!verdict.authentic());
  }
  return 0;
}
