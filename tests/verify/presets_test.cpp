// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "verify/sample.hpp"

#include <hapax/identify.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace hapax {
namespace {

TEST(Presets, AreSortedAndFoundByName) {
  std::set<std::string_view> names;
  std::string_view last;
  for (const Preset& each : presets()) {
    EXPECT_LT(last, each.name);
    last = each.name;
    EXPECT_EQ(preset(each.name), &each);
    EXPECT_TRUE(names.insert(each.name).second);
  }
  EXPECT_EQ(preset(""), nullptr);
  EXPECT_EQ(preset("stripe2"), nullptr);
  EXPECT_EQ(preset("Stripe"), nullptr);
}

TEST(Presets, SchemesOfOneProviderHaveDifferentNames) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const Preset& each : presets()) {
    EXPECT_TRUE(seen.insert({each.provider, each.scheme}).second) << each.name;
  }
}

TEST(Presets, AllCanBeConstructed) {
  for (const Preset& each : presets()) {
    SCOPED_TRACE(std::string(each.name));
    const test::Sample sample = test::sample_of(each);
    const auto verifier = Verifier::make(each.verify, sample.secrets, sample.context());
    EXPECT_TRUE(verifier) << verifier.error().to_string();
    const auto identifier = Identifier::make(each.identity);
    EXPECT_TRUE(identifier) << identifier.error().to_string();
    EXPECT_FALSE(each.identity.id[0].empty()) << "must be the place of the id, or \"none\"";
    EXPECT_GT(each.remember, each.sender_retries);
    EXPECT_GT(each.sender_retries.count(), 0);
  }
}

TEST(Presets, WindowsAlwaysLimitFutureTimes) {
  for (const Preset& each : presets()) {
    const TimePlace& time = each.verify.time;
    if (time.at.empty() || time.format == TimeFormat::opaque) continue;
    EXPECT_NE(time.future, kNoLimit) << each.name;
    EXPECT_LE(time.future, std::chrono::seconds(300)) << each.name;
  }
}

TEST(Presets, StateWhetherIdAndTimeAreSigned) {
  const auto id_signed = [](std::string_view name) { return preset(name)->id_signed; };
  for (const char* name : {"stripe", "standard-webhooks", "svix", "slack", "adyen", "aws-sns",
                           "twitch", "plivo", "messagebird-jwt", "livekit", "box", "sendgrid"}) {
    EXPECT_TRUE(id_signed(name)) << name;
  }
  // An unsigned header; a checksum; one item of many; a token; only fields other than the id.
  for (const char* name : {"github", "shopify", "twilio", "paypal", "segment-batch", "telegram",
                           "postmark", "mailgun", "microsoft-graph", "monday", "zoom"}) {
    EXPECT_FALSE(id_signed(name)) << name;
  }
  for (const char* name : {"stripe", "standard-webhooks", "linear", "plaid", "contentful"}) {
    EXPECT_TRUE(preset(name)->time_signed) << name;
  }
  for (const char* name : {"github", "discord", "replicate", "paypal", "telegram", "netlify"}) {
    EXPECT_FALSE(preset(name)->time_signed) << name;
  }
}

// The long ones of the documented retry spans.
TEST(Presets, CoverDocumentedRetrySpans) {
  const auto at_least = [](std::string_view name, int hours) {
    EXPECT_GE(preset(name)->sender_retries, std::chrono::hours(hours)) << name;
  };
  at_least("stripe", 72);
  at_least("standard-webhooks", 75);
  at_least("svix", 27);
  at_least("adyen", 720);
  at_least("bigcommerce", 48);
  at_least("recurly", 163);
  at_least("chargebee", 78);
  at_least("meta", 168);
  at_least("pagerduty", 48);
  at_least("paddle", 72);
  at_least("paypal", 72);
}

}  // namespace
}  // namespace hapax
