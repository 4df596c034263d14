// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// Amazon SNS messages, signed with a key of the test: signed and unsigned fields.
#include "base/base64.hpp"
#include "verify/keys.hpp"
#include "verify/parts.hpp"
#include "verify/sample.hpp"

#include <gtest/gtest.h>

namespace hapax {
namespace {

using test::OwnedRequest;
using verify_detail::KeyKind;
using verify_detail::PublicKey;
using verify_detail::SignatureHash;

class SnsTest : public testing::Test {
 protected:
  static const test::KeyPair& key() {
    static const test::KeyPair made = test::make_rsa();
    return made;
  }

  // A body whose Signature is over `message`.
  static std::string body(const std::string& message, const std::string& fields,
                          const std::string& version = "2") {
    const auto signer = PublicKey::make_private(KeyKind::rsa, key().private_pem);
    const auto signature =
        signer->sign(version == "2" ? SignatureHash::sha256 : SignatureHash::sha1, message);
    return "{" + fields + R"(,"SignatureVersion":")" + version + R"(","Signature":")" +
           to_base64(*signature) +
           R"(","SigningCertURL":"https://sns.us-east-1.amazonaws.com/x.pem"})";
  }

  static Reason reason_of(const std::string& body) { return verdict_of(body).reason; }
  static Verdict verdict_of(const std::string& body) {
    const std::vector<std::string> secrets = {key().public_pem};
    const Result<Verifier> verifier = Verifier::make(preset("aws-sns")->verify, secrets);
    EXPECT_TRUE(verifier);
    OwnedRequest request{.url = "https://h/"};
    request.body = body;
    return test::check(*verifier, request);
  }

  const std::string rest_ = R"(,"Timestamp":"T","TopicArn":"arn","Type":"Notification")";
  const std::string signed_rest_ = "Timestamp\nT\nTopicArn\narn\nType\nNotification\n";
};

TEST_F(SnsTest, AMessageOfBothVersionsIsAuthentic) {
  const std::string message = "Message\nhi\nMessageId\ni\n" + signed_rest_;
  const std::string fields = R"("Message":"hi","MessageId":"i")" + rest_;
  EXPECT_EQ(reason_of(body(message, fields, "2")), Reason::none);
  EXPECT_EQ(reason_of(body(message, fields, "1")), Reason::none);
  EXPECT_EQ(reason_of(body(message, fields, "3")), Reason::signature_invalid);
}

TEST_F(SnsTest, AMessageCarriesItsSigningTime) {
  const std::string at = "2025-10-09T08:53:20.000Z";
  const std::string message =
      "Message\nhi\nMessageId\ni\nTimestamp\n" + at + "\nTopicArn\narn\nType\nNotification\n";
  const Verdict verdict =
      verdict_of(body(message, R"("Message":"hi","MessageId":"i","Timestamp":")" + at +
                                   R"(","TopicArn":"arn","Type":"Notification")"));
  EXPECT_TRUE(verdict.authentic()) << verdict.detail;
  EXPECT_EQ(verdict.signed_at, test::kNow);
}

TEST_F(SnsTest, AnAddedSubjectIsDetected) {
  const std::string message = "Message\nhi\nMessageId\ni\n" + signed_rest_;
  const std::string fields = R"("Message":"hi","MessageId":"i")" + rest_;
  EXPECT_EQ(reason_of(body(message, fields + R"(,"Subject":null)")), Reason::none);
  EXPECT_EQ(reason_of(body(message, fields + R"(,"Subject":"a","Subject":"b")")),
            Reason::payload_unreadable);
  EXPECT_EQ(reason_of(body(message, fields + R"(,"Subject":5)")), Reason::payload_unreadable);
  EXPECT_EQ(reason_of(body(message, fields + R"(,"Subject":["a"])")), Reason::payload_unreadable);
  EXPECT_EQ(reason_of(body(message, fields + R"(,"Subject":"a")")), Reason::signature_invalid);
}

TEST_F(SnsTest, AnIdCannotSwallowTheSubject) {
  const std::string message = "Message\nhi\nMessageId\ni\nSubject\ns\n" + signed_rest_;
  EXPECT_EQ(reason_of(body(message, R"("Message":"hi","MessageId":"i","Subject":"s")" + rest_)),
            Reason::none);
  EXPECT_EQ(reason_of(body(message, R"("Message":"hi","MessageId":"i\nSubject\ns")" + rest_)),
            Reason::payload_unreadable);
}

TEST_F(SnsTest, MissingRepeatedOrNonTextFieldsAreUnreadable) {
  const std::string message = "Message\nhi\nMessageId\ni\n" + signed_rest_;
  EXPECT_EQ(reason_of(body(message, R"("Message":"hi")" + rest_)), Reason::payload_unreadable);
  EXPECT_EQ(reason_of(body(message, R"("Message":"hi","MessageId":"i","MessageId":"i")" + rest_)),
            Reason::payload_unreadable);
  EXPECT_EQ(reason_of(body(message, R"("Message":5,"MessageId":"i")" + rest_)),
            Reason::payload_unreadable);
  EXPECT_EQ(reason_of("[]"), Reason::signature_missing);
  EXPECT_EQ(reason_of("x"), Reason::payload_unreadable);
}

}  // namespace
}  // namespace hapax
