// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/base64.hpp"
#include "base/hex.hpp"
#include "verify/hmac.hpp"
#include "verify/keys.hpp"
#include "verify/public_key.hpp"
#include "verify/sample.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hapax {
namespace {

using test::kNow;
using test::OwnedRequest;
using verify_detail::Hash;
using verify_detail::hash_of;

const std::string kBody = R"({"id":1})";
constexpr std::int64_t kSeconds = 1'760'000'000;

std::string letters(std::string_view text) {
  return to_base64(text, Base64::url);
}

std::string hmac(Hash hash, std::string_view secret, std::string_view message) {
  const verify_detail::HmacKey key(hash, secret);
  verify_detail::Hashing hashing = key.begin();
  hashing.add(message);
  return std::string(key.finish(hashing).view());
}

std::string token(const std::string& header, const std::string& claims,
                  std::string_view secret = "secret", Hash hash = Hash::sha256) {
  const std::string text = letters(header) + "." + letters(claims);
  return text + "." + letters(hmac(hash, secret, text));
}

const std::string kHead = R"({"alg":"HS256","typ":"JWT"})";

// Netlify's claims: the hash of the body in hexadecimal, and `more`.
std::string claims(const std::string& more = "") {
  return R"({"iss":"netlify","sha256":")" + to_hex(hash_of(Hash::sha256, kBody).view()) + "\"" +
         more + "}";
}

Verdict verdict_of(const std::string& token_text, std::string_view preset_name = "netlify",
                   const std::string& secret = "secret") {
  OwnedRequest request{.url = "https://h/"};
  request.body = kBody;
  const Scheme& scheme = preset(preset_name)->verify;
  request.headers = {{std::string(scheme.signatures[0].at.substr(7)), token_text}};
  const std::vector<std::string> secrets = {secret};
  const Result<Verifier> verifier = Verifier::make(scheme, secrets, {"key-1", {}});
  EXPECT_TRUE(verifier) << verifier.error().to_string();
  return test::check(*verifier, request);
}

TEST(Jwt, AValidTokenIsAuthentic) {
  EXPECT_TRUE(verdict_of(token(kHead, claims())).authentic());
}

TEST(Jwt, UnexpectedAlgorithmsAreRejected) {
  for (const char* alg : {"none", "None", "NONE", "", "HS512", "hs256", "RS256", "ES256"}) {
    const std::string header = std::string(R"({"alg":")") + alg + "\"}";
    const std::string text = letters(header) + "." + letters(claims());
    EXPECT_EQ(verdict_of(text + ".").reason, Reason::signature_invalid) << alg;
    EXPECT_EQ(verdict_of(token(header, claims())).reason, Reason::signature_invalid) << alg;
  }
  for (const char* header :
       {"{}", R"({"alg":null})", R"({"alg":["HS256"]})", R"({"alg":"none","alg":"HS256"})",
        R"({"alg":"HS256","alg":"HS256"})"}) {
    EXPECT_EQ(verdict_of(token(header, claims())).reason, Reason::signature_invalid) << header;
  }
}

TEST(Jwt, AnHmacWithThePublicKeyIsRejected) {
  const test::KeyPair key = test::make_p256();
  const std::string body_hash = to_hex(hash_of(Hash::sha256, kBody).view());
  const std::string made = R"({"iat":1760000000,"request_body_sha256":")" + body_hash + "\"}";
  EXPECT_EQ(verdict_of(token(kHead, made, key.public_pem), "plaid", key.public_pem).reason,
            Reason::signature_invalid);
  const std::string es256 = R"({"alg":"ES256"})";
  EXPECT_EQ(verdict_of(token(es256, made, key.public_pem), "plaid", key.public_pem).reason,
            Reason::signature_invalid);
  const auto signer =
      verify_detail::PublicKey::make_private(verify_detail::KeyKind::ecdsa_p256, key.private_pem);
  ASSERT_TRUE(signer);
  const std::string text = letters(es256) + "." + letters(made);
  const auto pair = signer->sign_pair(text);
  ASSERT_TRUE(pair);
  EXPECT_TRUE(verdict_of(text + "." + letters(*pair), "plaid", key.public_pem).authentic());
  const auto der = signer->sign(verify_detail::SignatureHash::sha256, text);
  EXPECT_EQ(verdict_of(text + "." + letters(*der), "plaid", key.public_pem).reason,
            Reason::signature_invalid)
      << "a JWT signature is not DER-encoded";
  EXPECT_EQ(verdict_of(text + "." + letters(std::string(64, '\0')), "plaid", key.public_pem).reason,
            Reason::signature_invalid);
}

TEST(Jwt, ATokenWithoutThreePartsIsMalformed) {
  const std::string good = token(kHead, claims());
  for (const std::string& text :
       {std::string("."), std::string(".."), std::string("..."), std::string("a"),
        std::string("a.b"), std::string("a.b.c.d"), good + ".", good + "." + letters("x"),
        "." + good, good + "=", " " + good, good + "\n", good.substr(0, good.rfind('.'))}) {
    EXPECT_EQ(verdict_of(text).reason, Reason::header_malformed) << text;
  }
  EXPECT_EQ(verdict_of(std::string(16'385, 'a')).reason, Reason::header_malformed);
  EXPECT_EQ(verdict_of("").reason, Reason::signature_missing);
}

TEST(Jwt, ATokenWithoutJsonPartsIsMalformed) {
  EXPECT_EQ(verdict_of(token("not json", claims())).reason, Reason::header_malformed);
  EXPECT_EQ(verdict_of(token("", claims())).reason, Reason::header_malformed);
  EXPECT_EQ(verdict_of(token(kHead, "")).reason, Reason::header_malformed);
  EXPECT_NE(verdict_of(token(kHead, "[]")).reason, Reason::none);
  EXPECT_NE(verdict_of(token(kHead, "{\"iss\":\"netlify\"")).reason, Reason::none);
}

TEST(Jwt, CriticalExtensionsAreRejected) {
  EXPECT_EQ(verdict_of(token(R"({"alg":"HS256","crit":["b64"],"b64":false})", claims())).reason,
            Reason::signature_invalid);
}

TEST(Jwt, AnotherIssuerOrBodyIsRejected) {
  const std::string hash = to_hex(hash_of(Hash::sha256, kBody).view());
  for (const std::string& made :
       {std::string("{}"), R"({"iss":"other","sha256":")" + hash + "\"}",
        R"({"sha256":")" + hash + "\"}", std::string(R"({"iss":"netlify"})"),
        std::string(R"({"iss":"netlify","sha256":""})"),
        std::string(R"({"iss":"netlify","sha256":null})"),
        R"({"iss":"netlify","sha256":")" + hash.substr(2) + "\"}",
        R"({"iss":"netlify","sha256":")" + to_hex(hash_of(Hash::sha256, "x").view()) + "\"}",
        R"({"iss":"netlify","iss":"netlify","sha256":")" + hash + "\"}",
        R"({"iss":"netlify","sha256":")" + hash + R"(","sha256":")" + hash + "\"}"}) {
    EXPECT_EQ(verdict_of(token(kHead, made)).reason, Reason::signature_invalid) << made;
  }
}

std::string at(std::int64_t offset) {
  return std::to_string(kSeconds + offset);
}

TEST(Jwt, IsValidFromNbfUntilExp) {
  const auto reason_of = [](const std::string& more) {
    return verdict_of(token(kHead, claims("," + more))).reason;
  };
  const Reason outside = Reason::timestamp_outside_window;
  EXPECT_EQ(reason_of("\"exp\":" + at(1)), Reason::none);
  EXPECT_EQ(reason_of("\"exp\":" + at(0)), outside);
  EXPECT_EQ(reason_of("\"exp\":" + at(-1)), outside);
  EXPECT_EQ(reason_of("\"nbf\":" + at(0)), Reason::none);
  EXPECT_EQ(reason_of("\"nbf\":" + at(1)), outside);
  EXPECT_EQ(reason_of("\"exp\":" + at(1) + ".999"), Reason::none) << "fractions are dropped";
  EXPECT_EQ(reason_of("\"nbf\":" + at(0) + ".5"), Reason::none);
}

TEST(Jwt, InvalidTimesAreOutsideTheWindow) {
  for (const char* number :
       {"null", "\"1760000300\"", "true", "[]", "1e99", "1.7e12", "1.76e9", "-1",
        "99999999999999999999999", "-99999999999999999999999", "1760000300e0"}) {
    const std::string more = std::string(",\"exp\":") + number;
    EXPECT_EQ(verdict_of(token(kHead, claims(more))).reason, Reason::timestamp_outside_window)
        << number;
  }
  for (const char* number : {"null", "\"0\"", "1e99", "9.9e99", "99999999999999999999999"}) {
    const std::string more = std::string(",\"nbf\":") + number;
    EXPECT_EQ(verdict_of(token(kHead, claims(more))).reason, Reason::timestamp_outside_window)
        << number;
  }
  EXPECT_EQ(verdict_of(token(kHead, claims(",\"exp\":9223372036854775807"))).reason, Reason::none);
  EXPECT_EQ(verdict_of(token(kHead, claims(",\"nbf\":-9223372036854775808"))).reason, Reason::none);
  EXPECT_EQ(verdict_of(token(kHead, claims(",\"nbf\":9223372036854775807"))).reason,
            Reason::timestamp_outside_window);
  EXPECT_EQ(verdict_of(token(kHead, claims(R"(,"exp":1,"exp":9999999999)"))).reason,
            Reason::timestamp_outside_window)
      << "a repeated claim is invalid";
}

TEST(Jwt, TheIssueTimeMustBeWithinTheWindow) {
  const test::KeyPair key = test::make_p256();
  const auto signer =
      verify_detail::PublicKey::make_private(verify_detail::KeyKind::ecdsa_p256, key.private_pem);
  ASSERT_TRUE(signer);
  const auto reason_of = [&](const std::string& issued) {
    const std::string made = "{" + issued + R"("request_body_sha256":")" +
                             to_hex(hash_of(Hash::sha256, kBody).view()) + "\"}";
    const std::string text = letters(R"({"alg":"ES256"})") + "." + letters(made);
    return verdict_of(text + "." + letters(*signer->sign_pair(text)), "plaid", key.public_pem)
        .reason;
  };
  const Reason outside = Reason::timestamp_outside_window;
  EXPECT_EQ(reason_of("\"iat\":" + at(0) + ","), Reason::none);
  EXPECT_EQ(reason_of("\"iat\":" + at(-300) + ","), Reason::none);
  EXPECT_EQ(reason_of("\"iat\":" + at(-301) + ","), outside);
  EXPECT_EQ(reason_of("\"iat\":" + at(301) + ","), outside);
  EXPECT_EQ(reason_of(""), outside) << "iat is required";
  EXPECT_EQ(reason_of("\"iat\":9223372036854775807,"), outside);
  EXPECT_EQ(reason_of("\"iat\":-9223372036854775808,"), outside);
}

TEST(Jwt, EveryAlgorithmOfTheSchemeIsAccepted) {
  OwnedRequest request{.url = "https://h/"};
  request.body = kBody;
  const std::string made = R"({"iss":"MessageBird","jti":"j1","payload_hash":")" +
                           to_hex(hash_of(Hash::sha256, kBody).view()) + R"(","url_hash":")" +
                           to_hex(hash_of(Hash::sha256, request.url).view()) + "\"}";
  const std::pair<const char*, Hash> algorithms[] = {
      {"HS256", Hash::sha256}, {"HS384", Hash::sha384}, {"HS512", Hash::sha512}};
  for (const auto& [name, hash] : algorithms) {
    const std::string header = std::string(R"({"alg":")") + name + "\"}";
    EXPECT_TRUE(verdict_of(token(header, made, "secret", hash), "messagebird-jwt").authentic());
    EXPECT_FALSE(
        verdict_of(token(header, made, "secret", Hash::sha1), "messagebird-jwt").authentic());
  }
}

TEST(JwtScheme, AnIncompleteSchemeIsMisconfigured) {
  const std::vector<std::string> secrets = {"secret"};
  Scheme scheme = preset("netlify")->verify;
  scheme.jwt.algorithms = {};
  EXPECT_FALSE(Verifier::make(scheme, secrets));
  scheme = preset("netlify")->verify;
  scheme.jwt.body_claim = "";
  EXPECT_FALSE(Verifier::make(scheme, secrets));
  scheme = preset("netlify")->verify;
  scheme.signatures = {};
  EXPECT_FALSE(Verifier::make(scheme, secrets));
  scheme.signatures[0].at = "json:/token";
  const Result<Verifier> verifier = Verifier::make(scheme, secrets);
  ASSERT_FALSE(verifier);
  EXPECT_EQ(verifier.error().code(), Code::misconfigured);
}

}  // namespace
}  // namespace hapax
