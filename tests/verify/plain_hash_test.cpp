// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// Length extension: anyone who knows the length of the secret can continue a plain hash. HMAC
// prevents that.
#include "base/hex.hpp"
#include "verify/sample.hpp"

#include <openssl/sha.h>

#include <gtest/gtest.h>

namespace hapax {
namespace {

using test::kNow;
using test::OwnedRequest;
using test::Sample;

// The padding that SHA-256 appends to a message of this size.
std::string padding_after(std::size_t size) {
  std::string padding(1, '\x80');
  while ((size + padding.size()) % 64 != 56) padding += '\0';
  for (int shift = 56; shift >= 0; shift -= 8) padding += static_cast<char>(size * 8 >> shift);
  return padding;
}

// OpenSSL marks the functions that can set the hash state as deprecated.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

// The hash of a message with hash `hash` and size `size` (including its padding), followed by
// `more`.
std::string continued(const std::string& hash, std::size_t size, std::string_view more) {
  SHA256_CTX state{};
  SHA256_Init(&state);
  for (std::size_t i = 0; i < 8; ++i) {
    state.h[i] = 0;
    for (std::size_t byte = 0; byte < 4; ++byte) {
      state.h[i] = state.h[i] << 8 | static_cast<unsigned char>(hash[i * 4 + byte]);
    }
  }
  state.Nl = static_cast<SHA_LONG>(size * 8);
  SHA256_Update(&state, more.data(), more.size());
  std::string out(32, 0);
  SHA256_Final(reinterpret_cast<unsigned char*>(out.data()), &state);
  return out;
}

#pragma GCC diagnostic pop

// A captured request with an extended body and the matching signature.
OwnedRequest extended(const Sample& sample, std::size_t before_body, const std::string& body,
                      const std::string& header) {
  OwnedRequest request = *sample.sign(kNow, body);
  EXPECT_TRUE(test::check(sample.verifier(), request).authentic());
  const std::string padding = padding_after(before_body + body.size());
  const std::string more = R"(,{"id":"forged"}])";
  const std::string hash = *from_hex(request.header(header));
  request.body = body + padding + more;
  request.header(header) =
      to_hex(continued(hash, before_body + body.size() + padding.size(), more));
  return request;
}

TEST(APlainHash, CannotBeContinued) {
  for (const auto& [name, header] : {std::pair("recharge", "x-recharge-hmac-sha256"),
                                     std::pair("hubspot-v1", "x-hubspot-signature")}) {
    SCOPED_TRACE(name);
    const Sample sample = test::sample_of(*preset(name));
    for (const char* body : {R"([{"id":"evt_1"})", "{\"name\":\"\xc3\xa9\"}"}) {
      const OwnedRequest forged = extended(sample, sample.signing_secret.size(), body, header);
      const Verdict verdict = test::check(sample.verifier(), forged);
      EXPECT_EQ(verdict.reason, Reason::signature_invalid);
      EXPECT_NE(verdict.detail.find("plain hash"), std::string::npos) << verdict.detail;
    }
  }
  const Sample second = test::sample_of(*preset("hubspot-v2"));
  const std::size_t before = second.signing_secret.size() + 4 + second.unsigned_request.url.size();
  EXPECT_FALSE(
      test::check(second.verifier(), extended(second, before, "[{}", "x-hubspot-signature"))
          .authentic());
}

// Unusual bodies that the sender signed stay valid, and a hash that ends with the secret cannot be
// continued.
TEST(APlainHash, RejectsNothingElse) {
  const std::string padding("\x80\0\0\0\0", 5);
  const auto reason = [](std::string_view message, const std::string& body) {
    Scheme scheme;
    scheme.algorithm = Algorithm::sha256;
    scheme.signatures[0].at = "header:x-hash";
    scheme.messages[0] = message;
    const std::vector<std::string> secrets = {"secret"};
    const Request plain{.url = "https://h/", .body = body};
    const Result<Signed> made = sign(scheme, secrets[0], plain, "", kNow);
    EXPECT_TRUE(made);
    OwnedRequest request{.url = "https://h/", .headers = made->headers, .body = body};
    return test::check(*Verifier::make(scheme, secrets), request).reason;
  };
  for (const std::string& body : {std::string("\xff\xfe\x80\x81"), std::string("a\0\0", 3),
                                  std::string("\x80\0\0.", 4), std::string("{}")}) {
    EXPECT_EQ(reason("{secret}{body}", body), Reason::none) << testing::PrintToString(body);
  }
  EXPECT_EQ(reason("{secret}{body}", "{}" + padding), Reason::signature_invalid);
  EXPECT_EQ(reason("{body}{secret}", "{}" + padding), Reason::none);
}

}  // namespace
}  // namespace hapax
