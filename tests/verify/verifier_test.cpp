// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// Properties of the verifier for all schemes, and known attacks.
#include "verify/keys.hpp"
#include "verify/public_key.hpp"
#include "verify/sample.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace hapax {
namespace {

using test::kNow;
using test::OwnedRequest;
using testing::HasSubstr;
using testing::Not;

const std::vector<std::string> kSecrets = {"secret"};

OwnedRequest signed_sample(std::string_view name) {
  const Result<OwnedRequest> made = test::sample_of(*preset(name)).sign();
  EXPECT_TRUE(made);
  return *made;
}

Verdict verdict_of(std::string_view name, const OwnedRequest& request) {
  return test::check(test::sample_of(*preset(name)).verifier(), request);
}

TEST(MakingAVerifier, WithAnIncompleteSchemeIsMisconfigured) {
  Scheme scheme;  // HMAC without a place and a message
  EXPECT_EQ(Verifier::make(scheme, kSecrets).error().code(), Code::misconfigured);
  scheme.signatures[0].at = "header:x";
  EXPECT_EQ(Verifier::make(scheme, kSecrets).error().code(), Code::misconfigured);
  scheme.messages[0] = "{time}.{body}";
  EXPECT_THAT(Verifier::make(scheme, kSecrets).error().to_string(), HasSubstr("timestamp"));
  scheme.messages[0] = "{key_id}{body}";
  EXPECT_THAT(Verifier::make(scheme, kSecrets).error().to_string(), HasSubstr("key_id"));
  EXPECT_TRUE(Verifier::make(scheme, kSecrets, {"key", {}}));
  scheme.messages[0] = "{param:p}{body}";
  EXPECT_THAT(Verifier::make(scheme, kSecrets).error().to_string(), HasSubstr("'p'"));
  scheme.messages[0] = "{body}";
  scheme.each = "header:x";
  EXPECT_FALSE(Verifier::make(scheme, kSecrets));
  Scheme token;
  token.algorithm = Algorithm::token;
  EXPECT_EQ(Verifier::make(token, kSecrets).error().code(), Code::misconfigured);
}

TEST(MakingAVerifier, WithAnUnknownPresetIsMisconfigured) {
  const Result<Verdict> verdict = verify(preset("no such"), kSecrets, Request{}, kNow);
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().code(), Code::misconfigured);
}

TEST(AVerifier, CanBeUsedByManyThreads) {
  const test::Sample sample = test::sample_of(*preset("standard-webhooks"));
  const OwnedRequest good = *sample.sign();
  OwnedRequest bad = good;
  bad.body += ' ';
  const Verifier verifier = sample.verifier();
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 500; ++round) {
        if (!test::check(verifier, good).authentic()) ++wrong;
        if (test::check(verifier, bad).authentic()) ++wrong;
      }
    });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(wrong, 0);
}

TEST(AVerifier, ReportsTheSigningTime) {
  EXPECT_EQ(verdict_of("stripe", signed_sample("stripe")).signed_at, kNow);
  EXPECT_EQ(verdict_of("github", signed_sample("github")).signed_at, std::nullopt);
  // Also without a time window, because claims expire after `remember`.
  for (const char* name : {"paypal", "livekit", "upstash-qstash", "messagebird-jwt", "plaid"}) {
    EXPECT_EQ(verdict_of(name, signed_sample(name)).signed_at, kNow) << name;
  }
}

// Attack: the start of the body is moved into an opaque timestamp, so the signed bytes are
// unchanged.
TEST(ATimestamp, CannotContainAPartOfTheBody) {
  for (const char* name : {"discord", "sendgrid"}) {
    const test::Sample sample = test::sample_of(*preset(name));
    OwnedRequest request = *sample.sign(kNow, R"({"type":1,"data":{"id":"inner"}})");
    ASSERT_TRUE(verdict_of(name, request).authentic());
    const std::string_view at = preset(name)->verify.time.at;
    request.header(at.substr(at.find(':') + 1)) += R"({"type":1,"data":)";
    request.body = R"({"id":"inner"}})";
    EXPECT_EQ(verdict_of(name, request).reason, Reason::header_malformed);
  }
}

// Attack: Contentful's list of signed headers is itself a header, and values may contain the
// separator. So a different list, without the time, can give the same signed bytes.
TEST(ListedHeaders, CannotLeaveOutTheTime) {
  const test::Sample sample = test::sample_of(*preset("contentful"));
  OwnedRequest trick = sample.unsigned_request;
  trick.headers = {{"x-contentful-signed-headers", "a"},
                   {"a", "1;x-contentful-timestamp:1760000000000"},  // the signed time
                   {"x-contentful-timestamp", "1760000900000"}};     // the forged time
  const std::string message =
      "POST\n/in/sample?b=2&a=1\na:" + trick.header("a") + "\n" + trick.body;
  Scheme plain;
  plain.signatures[0].at = "header:x-contentful-signature";
  plain.messages[0] = "{body}";
  const auto forged = sign(plain, sample.signing_secret, Request{.body = message}, "", kNow);
  ASSERT_TRUE(forged);
  trick.headers.push_back(forged->headers[0]);
  EXPECT_EQ(test::check(sample.verifier(), trick, kNow + std::chrono::seconds(900)).reason,
            Reason::signature_invalid);
}

// Adyen joins eight values with ':' and does not escape them.
TEST(SignedJsonValues, CannotBeSplitDifferently) {
  const test::Sample sample = test::sample_of(*preset("adyen"));
  const auto item = [](const std::string& values) {
    return R"({"notificationItems":[{"NotificationRequestItem":{"additionalData":{"hmacSignature":""},)" +
           values + R"(,"amount":{"value":1,"currency":"EUR"},"success":"true"}}]})";
  };
  const Result<OwnedRequest> good = sample.sign(
      kNow,
      item(
          R"("pspReference":"P","merchantAccountCode":"M","merchantReference":"a:b","eventCode":"E")"));
  ASSERT_TRUE(good);
  EXPECT_TRUE(verdict_of("adyen", *good).authentic());
  const Result<OwnedRequest> cut = sample.sign(
      kNow,
      item(
          R"("pspReference":"P:","originalReference":"M","merchantAccountCode":"a","merchantReference":"b","eventCode":"E")"));
  ASSERT_FALSE(cut);
  OwnedRequest forged = *good;
  const std::string signature = good->body.substr(good->body.find("hmacSignature"),
                                                  std::string("hmacSignature\":\"").size() + 44);
  forged.body = item(
      R"("pspReference":"P:","originalReference":"M","merchantAccountCode":"a","merchantReference":"b","eventCode":"E")");
  forged.body.replace(forged.body.find("hmacSignature"), std::string("hmacSignature\":\"").size(),
                      signature);
  EXPECT_EQ(verdict_of("adyen", forged).reason, Reason::payload_unreadable);
}

TEST(EachItem, OneInvalidItemRejectsTheRequest) {
  OwnedRequest request = signed_sample("adyen");
  ASSERT_TRUE(verdict_of("adyen", request).authentic());
  const std::size_t last = request.body.rfind("AUTHORISATION");
  request.body.replace(last, 13, "AUTHORIZATION");
  EXPECT_EQ(verdict_of("adyen", request).reason, Reason::signature_invalid);
  request.body = R"({"notificationItems":[]})";
  EXPECT_EQ(verdict_of("adyen", request).reason, Reason::signature_missing);
}

TEST(SetsOfSignatures, AreLimitedAndAnyOneMayMatch) {
  OwnedRequest request = signed_sample("persona");
  const std::string good = request.header("persona-signature");
  request.header("persona-signature") = "t=1,v1=00 " + good;
  EXPECT_TRUE(verdict_of("persona", request).authentic());
  std::string many;
  for (int i = 0; i < 100; ++i) many += "t=1,v1=00 ";
  request.header("persona-signature") = many + good;
  EXPECT_EQ(verdict_of("persona", request).reason, Reason::header_malformed)
      << "each set costs a hash of the body";
}

TEST(NumberedHeaders, AreLimitedAndAnyOneMayMatch) {
  OwnedRequest request = signed_sample("docusign");
  ASSERT_TRUE(request.has_header("x-docusign-signature-1"));
  request.headers.insert(request.headers.begin(), {"X-DocuSign-Signature-2", "AAAA"});
  EXPECT_TRUE(verdict_of("docusign", request).authentic());
  for (int i = 3; i < 40; ++i) {
    request.headers.insert(request.headers.begin(),
                           {"X-DocuSign-Signature-" + std::to_string(i), "AAAA"});
  }
  EXPECT_EQ(verdict_of("docusign", request).reason, Reason::header_malformed);
}

TEST(TwoKeysWithAHeaderEach, AreNotInterchangeable) {
  OwnedRequest request = signed_sample("box");
  const std::string signature = request.header("box-signature-primary");
  EXPECT_EQ(verdict_of("box", request).secret, 0U);
  for (OwnedHeader& each : request.headers) {
    if (each.name == "box-signature-primary") each.name = "box-signature-secondary";
  }
  EXPECT_EQ(verdict_of("box", request).reason, Reason::signature_invalid);
}

TEST(CertificateUrl, MustBeOfTheProvidersDomain) {
  OwnedRequest request = signed_sample("paypal");
  for (const char* url : {"https://api.paypal.com/c", "https://paypal.com/c"}) {
    request.header("paypal-cert-url") = url;
    EXPECT_TRUE(verdict_of("paypal", request).authentic()) << url;
  }
  for (const char* url :
       {"http://api.paypal.com/c", "https://api.paypal.com.evil.io/c", "https://evilpaypal.com/c",
        "https://api.paypal.com@evil.io/c", "https://evil.io/api.paypal.com",
        "https://evil.io?.paypal.com", "https://evil.io#.paypal.com",
        "https://evil.io\\.paypal.com", "https://api.paypal.com:444/c", ""}) {
    request.header("paypal-cert-url") = url;
    EXPECT_EQ(verdict_of("paypal", request).reason, Reason::signature_invalid) << url;
  }
}

TEST(PublicKeys, OtherKindsAndShortKeysAreRejected) {
  using verify_detail::KeyKind;
  using verify_detail::PublicKey;
  const test::KeyPair ed25519 = test::make_ed25519();
  const test::KeyPair p256 = test::make_p256();
  EXPECT_TRUE(PublicKey::make(KeyKind::ed25519, ed25519.public_pem));
  EXPECT_FALSE(PublicKey::make(KeyKind::ecdsa_p256, ed25519.public_pem));
  EXPECT_FALSE(PublicKey::make(KeyKind::ed25519, p256.public_pem));
  EXPECT_FALSE(PublicKey::make(KeyKind::rsa, p256.public_pem));
  EXPECT_FALSE(PublicKey::make(KeyKind::rsa, test::make_rsa(1024).public_pem));
  EXPECT_FALSE(PublicKey::make(KeyKind::ed25519, ed25519.private_pem)) << "a private key";
}

TEST(PublicKeys, AnErrorNamesTheSizeOfAShortRsaKey) {
  using verify_detail::KeyKind;
  using verify_detail::PublicKey;
  const test::KeyPair small = test::make_rsa(1024);
  for (const Error& each : {PublicKey::make(KeyKind::rsa, small.public_pem).error(),
                            PublicKey::make_private(KeyKind::rsa, small.private_pem).error()}) {
    EXPECT_THAT(each.detail(), HasSubstr("1024 bits"));
    EXPECT_THAT(each.detail(), HasSubstr("2048"));
    EXPECT_THAT(each.detail(), Not(HasSubstr("not an RSA key")));
  }
  const Result<PublicKey> other = PublicKey::make(KeyKind::rsa, test::make_p256().public_pem);
  EXPECT_THAT(other.error().detail(), HasSubstr("not an RSA key"));
}

TEST(Basic, CredentialsAreComparedWhole) {
  const test::Sample sample = test::sample_of(*preset("postmark"));
  OwnedRequest request = *sample.sign();
  for (const char* word : {"basic ", "BASIC ", "Basic "}) {
    request.header("authorization").replace(0, 6, word);
    EXPECT_TRUE(verdict_of("postmark", request).authentic());
  }
  request.header("authorization").insert(6, " ");
  EXPECT_EQ(verdict_of("postmark", request).reason, Reason::signature_invalid);
  request.header("authorization") = "Bearer x";
  EXPECT_EQ(verdict_of("postmark", request).reason, Reason::signature_missing);
}

}  // namespace
}  // namespace hapax
