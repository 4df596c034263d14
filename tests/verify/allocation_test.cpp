// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// A separate program, because it counts every allocation of its process.
#include "support/allocations.hpp"
#include "verify/sample.hpp"

#include <gtest/gtest.h>

namespace hapax {
namespace {

using test::allocations;

using test::OwnedRequest;

TEST(VerifyAllocation, TheCounterCounts) {
  const int before = allocations;
  const std::string text(1000, 'x');
  EXPECT_GT(allocations, before) << text.size();
}

// Whether the signed message consists of unmodified parts of the request: nothing is decoded,
// sorted or hashed first.
bool is_plain(const Preset& preset) {
  if (preset.verify.algorithm > Algorithm::sha256 || !preset.verify.body_hash_query.empty() ||
      preset.verify.time.at.starts_with("json:") ||
      !preset.verify.signatures[0].at.starts_with("header:")) {
    return false;
  }
  std::string_view message = preset.verify.messages[0];
  for (std::size_t open; (open = message.find('{')) != message.npos;) {
    const std::string_view word = message.substr(open + 1, message.find('}') - open - 1);
    const bool plain = word == "body" || word == "time" || word == "method" || word == "url" ||
                       word == "path" || word == "secret" || word == "key_id" ||
                       word.starts_with("header:");
    if (!plain) return false;
    message.remove_prefix(message.find('}') + 1);
  }
  return true;
}

int allocations_of(const Verifier& verifier, const OwnedRequest& request, Scratch& scratch) {
  const OwnedRequest::View view = request.view();
  const int before = allocations;
  bool authentic = true;
  for (int i = 0; i < 10; ++i) {
    authentic = authentic && verifier.verify(*view, test::kNow, scratch).authentic();
  }
  const int made = allocations - before;
  EXPECT_TRUE(authentic);
  return made;
}

TEST(VerifyAllocation, APlainSchemeVerifiesWithoutAllocating) {
  int checked = 0;
  Scratch scratch;
  for (const Preset* preset : test::signable_presets()) {
    if (!is_plain(*preset)) continue;
    const test::Sample sample = test::sample_of(*preset);
    EXPECT_EQ(allocations_of(sample.verifier(), *sample.sign(), scratch), 0) << preset->name;
    ++checked;
  }
  EXPECT_GT(checked, 90) << "most presets are plain";
}

TEST(VerifyAllocation, AHeaderAliasVerifiesWithoutAllocating) {
  const test::Sample sample = test::sample_of(*preset("svix"));
  OwnedRequest request = *sample.sign();
  for (OwnedHeader& each : request.headers) each.name.replace(0, 5, "webhook-");
  Scratch scratch;
  EXPECT_EQ(allocations_of(sample.verifier(), request, scratch), 0);
}

}  // namespace
}  // namespace hapax
