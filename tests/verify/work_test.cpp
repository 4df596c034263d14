// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// Bounds on the work of the verifier: an unauthenticated sender can cause it, so it is counted
// here.
#include "base/hex.hpp"
#include "verify/sample.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <limits>

namespace hapax {
namespace {

using test::kNow;
using test::OwnedRequest;
using test::Sample;

constexpr std::size_t kMebibyte = 1UL << 20;

std::string gzip(std::string_view text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()), 0);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::vector<std::string> many_secrets() {
  std::vector<std::string> secrets;
  for (int i = 0; i < 16; ++i) secrets.push_back("secret number " + std::to_string(i));
  return secrets;
}

Verdict verdict_of(const Scheme& scheme, const std::vector<std::string>& secrets,
                   const OwnedRequest& request, std::size_t max_inflated = kMaxInflated) {
  Result<Verifier> verifier = Verifier::make(scheme, secrets);
  EXPECT_TRUE(verifier) << verifier.error().to_string();
  verifier->limit_inflated(max_inflated);
  return test::check(*verifier, request);
}

std::string wrong(std::size_t i) {
  return std::string(62, '0') + to_hex(std::string(1, static_cast<char>(i)));
}

TEST(TheWork, ManyHeadersCostOneDigestPerMessageAndSecret) {
  Scheme scheme;
  scheme.signatures[0].at = "header:X-Sig-*";
  scheme.messages = {"{body}", "{body}\n"};
  OwnedRequest request{.url = "https://h/"};
  request.body = std::string(kMebibyte, 'x');
  for (std::size_t i = 0; i < 16; ++i) {
    request.headers.push_back({"X-Sig-" + std::to_string(i), wrong(i)});
  }
  const Verdict verdict = verdict_of(scheme, many_secrets(), request);
  EXPECT_EQ(verdict.reason, Reason::signature_invalid);
  EXPECT_EQ(verdict.work.digests, 32U);
}

TEST(TheWork, TooManySignaturesCostNoDigest) {
  Scheme scheme;
  scheme.signatures[0] = {.at = "header:X-Sig-*", .item = ','};
  scheme.messages[0] = "{body}";
  OwnedRequest request{.url = "https://h/"};
  for (std::size_t i = 0; i < 16; ++i) {
    request.headers.push_back({"X-Sig-" + std::to_string(i), wrong(i) + "," + wrong(i + 16)});
  }
  const Verdict verdict = verdict_of(scheme, many_secrets(), request);
  EXPECT_EQ(verdict.reason, Reason::header_malformed);
  EXPECT_EQ(verdict.work.digests, 0U);
}

TEST(TheWork, ManySetsCostOneDigestPerTimeAndSecret) {
  const auto sets = [](std::size_t count, std::size_t times) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
      text +=
          (i == 0 ? "t=" : " t=") + std::to_string(1'760'000'000 + i % times) + ",v1=" + wrong(i);
    }
    return text;
  };
  OwnedRequest request{.url = "https://h/", .headers = {{"Persona-Signature", sets(16, 1)}}};
  request.body = std::string(kMebibyte, 'x');
  const Scheme& scheme = preset("persona")->verify;
  EXPECT_EQ(verdict_of(scheme, many_secrets(), request).work.digests, 16U);
  request.header("persona-signature") = sets(16, 2);
  EXPECT_EQ(verdict_of(scheme, many_secrets(), request).work.digests, 32U);
  request.header("persona-signature") = sets(16, 16);
  const Verdict verdict = verdict_of(scheme, many_secrets(), request);
  EXPECT_EQ(verdict.reason, Reason::header_malformed);
  EXPECT_EQ(verdict.work.digests, 0U);
}

TEST(TheWork, TwoPlacesCostOneDigestPerSecret) {
  OwnedRequest request{.url = "https://h/"};
  request.headers = {{"X-Hookdeck-Signature", std::string(43, 'A') + "="},
                     {"X-Hookdeck-Signature-2", std::string(43, 'E') + "="}};
  EXPECT_EQ(verdict_of(preset("hookdeck")->verify, many_secrets(), request).work.digests, 16U);
}

TEST(TheWork, PublicKeySchemesCostOneDigest) {
  const Sample sample = test::sample_of(*preset("wise"));
  Scheme scheme = sample.preset->verify;
  scheme.signatures[0].item = ' ';
  OwnedRequest request = *sample.sign();
  std::string& header = request.header("x-signature-sha256");
  const std::string good = header;
  header = std::string(342, 'A') + "== " + std::string(342, 'E') + "== " + good;
  const Verdict verdict = verdict_of(scheme, sample.secrets, request);
  EXPECT_TRUE(verdict.authentic()) << verdict.detail;
  EXPECT_EQ(verdict.work.digests, 1U);
}

// Headers filled with repeated signatures of the preset, for a changed body.
TEST(TheWork, IsBoundedForEveryPreset) {
  for (const Preset* each : test::signable_presets()) {
    SCOPED_TRACE(std::string(each->name));
    const Sample sample = test::sample_of(*each);
    const Scheme& scheme = each->verify;
    OwnedRequest request = *sample.sign();
    const Verdict verdict = test::check(sample.verifier(), request);
    ASSERT_TRUE(verdict.authentic());
    const std::size_t messages = scheme.messages[1].empty() ? 1 : 2;
    const std::size_t items = each->name == "adyen" ? 2 : 1;
    EXPECT_LE(verdict.work.digests, messages * sample.secrets.size() * items);
    request.body += ' ';
    for (OwnedHeader& header : request.headers) {
      const std::string once = header.value;
      for (const char separator : {',', ' ', '&'}) {
        std::string many = once;
        while (many.size() < 3000) many += separator + once;
        header.value = many;
        // Ed25519 hashes once per signature and key: four signatures, three keys.
        EXPECT_LE(test::check(sample.verifier(), request).work.digests,
                  2 * messages * sample.secrets.size() * items +
                      (scheme.algorithm == Algorithm::ed25519 ? 12U : 0U));
      }
      header.value = once;
    }
  }
}

class ACompressedBody : public testing::Test {
 protected:
  static Verdict verdict(const std::string& body, std::size_t max_inflated = kMaxInflated) {
    OwnedRequest request{.url = "https://h/"};
    request.headers = {{"X-Signature", wrong(0)}, {"Content-Encoding", "gzip"}};
    request.body = body;
    return verdict_of(preset("stream-chat")->verify, many_secrets(), request, max_inflated);
  }
};

TEST_F(ACompressedBody, IsDecompressedOnceForAllSecrets) {
  const Sample sample = test::sample_of(*preset("stream-chat"));
  OwnedRequest request = *sample.sign();
  const std::string text = request.body;
  request.body = gzip(text);
  request.headers.push_back({"Content-Encoding", "gzip"});
  const Verdict verdict = test::check(sample.verifier(), request);
  EXPECT_TRUE(verdict.authentic()) << verdict.detail;
  EXPECT_EQ(verdict.work.inflations, 1U);
  EXPECT_EQ(verdict.work.inflated_bytes, text.size());
  EXPECT_EQ(verdict.work.digests, 2U) << "the second secret matches";
}

TEST_F(ACompressedBody, IsDecompressedOnlyUpToItsLimit) {
  constexpr std::size_t kChunk = 16384;  // the limit may be exceeded by one chunk
  const std::string bomb = gzip(std::string(64 * kMebibyte, 0));
  ASSERT_LT(bomb.size(), 70'000U);
  const Verdict of_a_bomb = verdict(bomb, kMebibyte);
  EXPECT_EQ(of_a_bomb.reason, Reason::body_too_large);
  EXPECT_EQ(of_a_bomb.work.inflations, 1U);
  EXPECT_LE(of_a_bomb.work.inflated_bytes, kMebibyte + kChunk);
  EXPECT_EQ(of_a_bomb.work.digests, 0U);

  // Regardless of max_body: at most 100 times the compressed size, and at most kMaxInflated.
  const Verdict by_ratio = verdict(bomb, std::numeric_limits<std::size_t>::max());
  EXPECT_EQ(by_ratio.reason, Reason::body_too_large);
  EXPECT_LE(by_ratio.work.inflated_bytes, bomb.size() * 100 + kChunk);
  std::string noise(kMebibyte, 0);
  for (std::size_t i = 0; i < noise.size(); ++i) {
    noise[i] = static_cast<char>((i * 2654435761U) >> 13);
  }
  const std::string large = gzip(noise + std::string(20 * kMebibyte, 0));
  EXPECT_LE(verdict(large, std::numeric_limits<std::size_t>::max()).work.inflated_bytes,
            kMaxInflated + kChunk);
}

TEST_F(ACompressedBody, OfAFewKibibytesMayHaveAnyRatio) {
  const Verdict small = verdict(gzip(std::string(60'000, ' ')));
  EXPECT_EQ(small.reason, Reason::signature_invalid);
  EXPECT_EQ(small.work.inflated_bytes, 60'000U);
  EXPECT_EQ(verdict(gzip(std::string(2'000, ' ')), 1'000).reason, Reason::body_too_large);
}

TEST_F(ACompressedBody, InvalidGzipIsDecompressedOnce) {
  const Verdict broken = verdict(
      "\x1f\x8b"
      "broken");
  EXPECT_EQ(broken.reason, Reason::payload_unreadable);
  EXPECT_EQ(broken.work.inflations, 1U);
  EXPECT_EQ(broken.work.digests, 0U);
}

}  // namespace
}  // namespace hapax
