// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// Anyone can request a handshake. No response may contain a valid signature of an event.
#include <hapax/verify.hpp>

#include "base/base64.hpp"
#include "base/hex.hpp"
#include "base/json_text.hpp"
#include "verify/keys.hpp"
#include "verify/sample.hpp"
#include "verify/signature.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace hapax {
namespace {

using test::kNow;
using test::OwnedRequest;
using test::Sample;

const std::string kTime = "1760000000";  // kNow

// Challenges that an attacker may want to have signed.
const std::vector<std::string>& challenges() {
  static const std::vector<std::string> all = {
      "0123456789abcdef0123",
      std::string(32, 'a'),
      "forged-event-1",
      "1",
      "PG5vdGlmaWNhdGlvbj4x",
      std::string(1024, 'x'),
      R"({"id":"evt_1"})",
      "[1]",
      "id=evt_1",
      kTime + ".forged",
      kTime + ".{}",
      "v0:" + kTime + ":forged",
      "evt_1." + kTime + ".forged",
      "abcdefabcdefabcdefabcdef\n",
  };
  return all;
}

std::string percent_encoded(std::string_view text) {
  std::string out;
  for (const char each : text) out += "%" + to_hex({&each, 1});
  return out;
}

// Requests with the challenge in the places of all providers at once: a preset reads only its own.
std::vector<OwnedRequest> handshakes_with(const std::string& challenge) {
  std::string query = "?hub.mode=subscribe&hub.verify_token=guess";
  for (const char* name :
       {"bt_challenge", "crc_token", "challenge", "validationToken", "hub.challenge"}) {
    query.append("&").append(name).append("=").append(percent_encoded(challenge));
  }
  const std::string text = json_string(challenge);
  const std::string in_body = R"("challenge":)" + text + R"(,"verification_token":)" + text +
                              R"(,"payload":{"plainToken":)" + text + R"(},"SubscribeURL":)" + text;
  std::vector<OwnedRequest> requests;
  for (const char* method : {"GET", "HEAD", "POST"}) {
    for (const char* body :
         {"", R"("type":"url_verification",)", R"("type":1,)", R"("type":0,)",
          R"("event":"endpoint.url_validation",)", R"("Type":"SubscriptionConfirmation",)"}) {
      OwnedRequest request{.method = method, .url = "https://hooks.example.com/in/x" + query};
      request.headers = {{"x-okta-verification-challenge", challenge},
                         {"x-hook-secret", challenge},
                         {"twitch-eventsub-message-type", "webhook_callback_verification"}};
      request.body = "{" + std::string(body) + in_body + "}";
      requests.push_back(std::move(request));
    }
  }
  return requests;
}

// The words of a response, and the bytes that they may encode.
std::set<std::string> bytes_in(const HandshakeAnswer& answer) {
  std::string text = answer.body;
  for (const OwnedHeader& each : answer.headers) text += " " + each.value;
  std::set<std::string> all;
  for (const std::string_view separators : {" \"{},:|", " \"{},:|="}) {
    std::string_view rest = text;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find_first_of(separators), rest.size());
      std::string_view word = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (word.starts_with("sha256=")) word.remove_prefix(7);
      if (word.empty()) continue;
      all.emplace(word);
      std::string padded(word);
      while (padded.size() % 4 != 0) padded += '=';
      for (const auto& bytes : {from_hex(word), from_base64(padded), from_base64(word),
                                from_base64(word, Base64::url)}) {
        if (bytes) all.insert(*bytes);
      }
    }
  }
  return all;
}

// The value of a signature place that contains this signature, in the list format of the place.
std::string text_at(const SignaturePlace& place, std::string_view key_id,
                    const std::string& signature) {
  const std::string_view label = place.label == "{key_id}" ? key_id : place.label;
  std::string text = std::string(place.prefix) + signature;
  if (place.pair != 0) text = std::string(label) + place.pair + text;
  if (place.time_first) text = kTime + place.item + text;
  if (!place.time_label.empty()) {
    text = std::string(place.time_label) + place.pair + kTime + place.item + text;
  }
  return text;
}

// Bodies whose signed message could be this text.
std::vector<std::string> bodies_for(const Scheme& scheme, const std::string& text) {
  std::vector<std::string> bodies = {text, text + "\n", R"({"a":)" + json_string(text) + "}",
                                     "bt_payload=" + percent_encoded(text) + "&amount=1000000"};
  for (const std::string_view message : scheme.messages) {
    std::string before(message.substr(0, message.find("{body")));
    if (const std::size_t time = before.find("{time}"); time != before.npos) {
      before.replace(time, 6, kTime);
    }
    if (!before.empty() && text.starts_with(before)) bodies.push_back(text.substr(before.size()));
  }
  return bodies;
}

void add_to(OwnedRequest& request, std::string_view at, const std::string& value) {
  const std::string name(at.substr(at.find(':') + 1));
  if (at.starts_with("header:")) {
    request.headers.push_back(
        {name.ends_with('*') ? name.substr(0, name.size() - 1) + "1" : name, value});
  } else if (at.starts_with("form:")) {
    request.body += "&" + name + "=" + percent_encoded(value);
  } else if (at.starts_with("json:")) {
    request.body = "{" + json_string(name.substr(1)) + ":" + json_string(value) + "}";
  }
}

// Events with this body and signature, in every place and encoding of the scheme.
std::vector<OwnedRequest> events_with(const Scheme& scheme, const Sample& sample,
                                      const std::string& body, const std::string& bytes) {
  std::vector<OwnedRequest> events;
  for (const SignaturePlace& place : scheme.signatures) {
    if (place.at.empty() && scheme.algorithm != Algorithm::basic) continue;
    for (const std::string& written : {verify_detail::encode(bytes, place.encoding), bytes}) {
      OwnedRequest event{.url = sample.unsigned_request.url};
      event.body = body;
      for (const RequiredHeader& each : scheme.required) {
        const bool key = each.value == "{key_id}";
        if (!each.name.empty()) {
          event.headers.push_back(
              {std::string(each.name), std::string(key ? sample.context().key_id : each.value)});
        }
      }
      if (scheme.time.at.starts_with("header:")) {
        event.headers.push_back({std::string(scheme.time.at.substr(7)), kTime});
      }
      add_to(event, place.at.empty() ? "header:authorization" : place.at,
             text_at(place, sample.context().key_id, written));
      events.push_back(std::move(event));
    }
  }
  return events;
}

struct Tally {
  std::size_t answers = 0;
  std::set<std::string> forged;  // bodies of the forged events
};

// Uses everything in the handshake responses as a signature of the challenge.
Tally forge(const Preset& preset, const Scheme& scheme) {
  const Sample sample = test::sample_of(preset);
  const Result<Verifier> verifier = Verifier::make(scheme, sample.secrets, sample.context());
  EXPECT_TRUE(verifier);
  Tally tally;
  for (const std::string& challenge : challenges()) {
    std::set<std::string> answers;
    for (const OwnedRequest& request : handshakes_with(challenge)) {
      const OwnedRequest::View view = request.view();
      const auto answer = answer_handshake(preset, sample.secrets, *view, kNow, sample.context());
      if (!answer) continue;
      ++tally.answers;
      answers.merge(bytes_in(*answer));
    }
    for (const std::string& bytes : answers) {
      for (const std::string& body : bodies_for(scheme, challenge)) {
        for (const OwnedRequest& event : events_with(scheme, sample, body, bytes)) {
          if (test::check(*verifier, event).authentic()) tally.forged.insert(event.body);
        }
      }
    }
  }
  return tally;
}

TEST(HandshakeAnswer, IsNeverTheSignatureOfAnEvent) {
  std::size_t answering = 0;
  for (const Preset& each : presets()) {
    if (each.verify.algorithm == Algorithm::none) continue;  // accepts every event
    SCOPED_TRACE(std::string(each.name));
    const Tally tally = forge(each, each.verify);
    EXPECT_THAT(tally.forged, testing::IsEmpty());
    if (tally.answers > 0) ++answering;
  }
  EXPECT_GE(answering, 10U) << "presets with unauthenticated handshakes";
}

// Checks the test above: these two presets sign any challenge, and only the verifier rejects the
// result as an event.
TEST(HandshakeAnswer, CouldBeASignatureIfChallengesWereAccepted) {
  for (const char* name : {"braintree", "x-twitter"}) {
    SCOPED_TRACE(name);
    Scheme scheme = preset(name)->verify;
    scheme.challenge = Challenge::none;
    EXPECT_THAT(forge(*preset(name), scheme).forged, testing::Not(testing::IsEmpty()));
  }
}

TEST(AChallenge, IsRejectedEvenIfSigned) {
  const Sample twitter = test::sample_of(*preset("x-twitter"));
  EXPECT_TRUE(test::check(twitter.verifier(), *twitter.sign()).authentic());
  for (const char* body : {"forged-event-1", "1", "null"}) {
    const Verdict verdict = test::check(twitter.verifier(), *twitter.sign(kNow, body));
    EXPECT_EQ(verdict.reason, Reason::signature_invalid) << body;
    EXPECT_THAT(verdict.detail, testing::HasSubstr("has the form of a handshake challenge"));
  }
  const Sample braintree = test::sample_of(*preset("braintree"));
  EXPECT_TRUE(test::check(braintree.verifier(), *braintree.sign()).authentic());
  const auto payload = [&](const std::string& text) {
    return test::check(braintree.verifier(), *braintree.sign(kNow, "bt_payload=" + text)).reason;
  };
  EXPECT_EQ(payload("0123456789abcdef0123"), Reason::signature_invalid);
  EXPECT_EQ(payload(std::string(32, 'a')), Reason::signature_invalid);
  EXPECT_EQ(payload("0123456789abcdef012"), Reason::none) << "too short for a challenge";
  EXPECT_EQ(payload(std::string(33, 'a')), Reason::none) << "too long for a challenge";
  EXPECT_EQ(payload("0123456789ABCDEF0123"), Reason::none);
}

}  // namespace
}  // namespace hapax
