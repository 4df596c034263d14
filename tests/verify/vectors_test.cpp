// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// Signatures of the providers: tests/data/signatures.jsonl has one request per line with its
// expected result. `hapax verify --vectors` runs the same code.
#include "cli/vectors.hpp"

#include <hapax/verify.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <boost/json.hpp>

#include <fstream>
#include <set>
#include <sstream>

namespace hapax {
namespace {

namespace json = boost::json;

// This vector expects an event id that is not in its request: the header with the id is missing.
constexpr std::string_view kImpossible = "twilio/twilio-form/header-names-lowercase";

std::string text_of(const json::object& object, std::string_view name) {
  return std::string(object.at(name).as_string());
}

std::string scheme_of(const json::object& object) {
  return text_of(object, "provider") + "/" + text_of(object, "scheme");
}

std::vector<json::object> objects_in(std::istream& in) {
  std::vector<json::object> objects;
  for (std::string line; std::getline(in, line);) {
    objects.push_back(json::parse(line).as_object());
  }
  return objects;
}

std::vector<json::object> vectors() {
  std::ifstream in(HAPAX_TEST_DATA "/signatures.jsonl", std::ios::binary);
  return objects_in(in);
}

// The results, one per vector, in order.
struct Ran {
  cli::VectorTotals totals;
  std::vector<json::object> answers;
};

Ran run() {
  std::ifstream in(HAPAX_TEST_DATA "/signatures.jsonl", std::ios::binary);
  std::stringstream out;
  const cli::VectorTotals totals = cli::run_vectors(in, out);
  return {totals, objects_in(out)};
}

TEST(SignatureVectors, AllGetTheExpectedVerdictAndEventId) {
  std::vector<std::string> missed;
  for (const json::object& answer : run().answers) {
    if (answer.contains("missed")) {
      missed.push_back(scheme_of(answer) + "/" + text_of(answer, "case"));
    }
  }
  EXPECT_THAT(missed, testing::ElementsAre(std::string(kImpossible)));
}

TEST(SignatureVectors, ResultsAreInOrder) {
  const std::vector<json::object> asked = vectors();
  const Ran ran = run();
  ASSERT_EQ(ran.answers.size(), asked.size());
  EXPECT_EQ(ran.totals.lines, asked.size());
  for (std::size_t i = 0; i < asked.size(); ++i) {
    EXPECT_EQ(scheme_of(ran.answers[i]), scheme_of(asked[i]));
    EXPECT_EQ(text_of(ran.answers[i], "case"), text_of(asked[i], "case"));
  }
}

TEST(SignatureVectors, OnlyInvalidVectorsHaveAReason) {
  std::set<std::string> reasons;
  for (const json::object& answer : run().answers) {
    const std::string reason = text_of(answer, "reason");
    EXPECT_EQ(text_of(answer, "verdict") == "invalid", !reason.empty()) << answer;
    reasons.insert(reason);
  }
  for (const char* each : {"signature-missing", "signature-invalid", "timestamp-outside-window",
                           "header-malformed", "payload-unreadable"}) {
    reasons.insert(each);
  }
  EXPECT_EQ(reasons.size(), 6U) << "the five reasons of signature failures, and an empty one";
}

TEST(SignatureVectors, CoverAtLeast119Schemes) {
  std::set<std::string> covered;
  std::set<std::string> left_out;
  for (const json::object& answer : run().answers) {
    (text_of(answer, "verdict") == "unsupported" ? left_out : covered).insert(scheme_of(answer));
  }
  EXPECT_GE(covered.size(), 119U);
  // OpenSSL 3.0 has no Keccak; Pusher's vectors lack the receiver's key id.
  EXPECT_THAT(left_out, testing::ElementsAre("moralis/keccak-suffix-secret", "pusher/pusher-hmac"));
}

TEST(SignatureVectors, EveryProviderHasAPreset) {
  for (const json::object& vector : vectors()) {
    const std::string scheme = scheme_of(vector);
    const auto is = [&](const Preset& preset) {
      return std::string(preset.provider) + "/" + std::string(preset.scheme) == scheme;
    };
    const bool known = std::any_of(presets().begin(), presets().end(), is);
    EXPECT_TRUE(known || scheme.starts_with("generic-hmac/") || scheme.starts_with("moralis/"))
        << scheme;
  }
}

TEST(SignatureVectors, InvalidLinesAreReportedAndCounted) {
  std::stringstream in(
      "not JSON\n{\"provider\":\"stripe\"}\n[]\n"
      R"({"provider":"stripe","body_base64":"","now_unix":1e300})"
      "\n");
  std::stringstream out;
  const cli::VectorTotals totals = cli::run_vectors(in, out);
  EXPECT_EQ(totals.lines, 4U);
  EXPECT_EQ(totals.missed, 4U);
  EXPECT_EQ(objects_in(out).size(), 4U);
}

}  // namespace
}  // namespace hapax
