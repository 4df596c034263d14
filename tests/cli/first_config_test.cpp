// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "cli/first_config.hpp"

#include "daemon/config_text.hpp"
#include "support/world.hpp"
#include "verify/sample.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace hapax::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kPath = "hapax.toml";
constexpr unsigned kMode = 0600;

std::vector<std::string> fields_of(const std::vector<daemon::Problem>& problems) {
  std::vector<std::string> fields;
  for (const daemon::Problem& each : problems) fields.push_back(each.field);
  return fields;
}

// Completes the file as a user would: uncomments the keys marked "# to complete".
std::string completed(const std::string& text) {
  std::istringstream lines(text);
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    const bool open = line.starts_with("# ") && line.find("# to complete") != line.npos;
    out += (open ? line.substr(2) : line) + "\n";
  }
  return out;
}

// An environment in which the preset's variable holds a valid secret.
daemon::Variable set_for(const FirstConfig& wanted) {
  const std::string name = wanted.variable();
  const std::string secret = test::sample_of(*wanted.preset).secrets[0];
  return [name, secret](const std::string& asked) {
    return asked == name ? std::optional(secret) : std::nullopt;
  };
}

TEST(FirstConfig, OfEveryPresetIsValidOrMarksWhatToComplete) {
  test::SeededRandom random(1);
  std::size_t good = 0;
  for (const Preset& preset : presets()) {
    SCOPED_TRACE(preset.name);
    const FirstConfig wanted{&preset, "http://127.0.0.1:3000/"};
    const daemon::Variable variable = set_for(wanted);
    const std::string text = first_config(wanted, random);
    const std::vector<std::string> missing = fields_of(missing_in(text, kPath, wanted, variable));
    const daemon::Loaded loaded = daemon::load_config_text(text, kPath, kMode, variable);
    if (preset.handshake == Handshake::meta) {  // the configuration is valid without the token
      EXPECT_THAT(missing, ElementsAre("source[1].parameters"));
      EXPECT_THAT(loaded.problems, IsEmpty());
    } else {
      EXPECT_EQ(missing, fields_of(loaded.problems));
    }
    good += missing.empty() ? 1 : 0;
    const std::string whole = completed(text);
    EXPECT_EQ(whole == text, missing.empty()) << text;
    for (const auto& each : daemon::load_config_text(whole, kPath, kMode, variable).problems) {
      ADD_FAILURE() << each.to_string() << "\n" << whole;
    }
  }
  EXPECT_GT(good, presets().size() / 2);
}

TEST(FirstConfig, AnUnsetVariableDoesNotHideOtherProblems) {
  test::SeededRandom random(1);
  const auto none = [](const std::string&) { return std::optional<std::string>(); };
  for (const Preset& preset : presets()) {
    SCOPED_TRACE(preset.name);
    const FirstConfig wanted{&preset, ""};
    const std::string text = first_config(wanted, random);
    EXPECT_EQ(fields_of(missing_in(text, kPath, wanted, none)),
              fields_of(missing_in(text, kPath, wanted, set_for(wanted))));
  }
}

TEST(FirstConfig, AnUnusableSecretIsReported) {
  test::SeededRandom random(1);
  const FirstConfig wanted{preset("wise"), ""};
  const auto wrong = [](const std::string&) { return std::optional<std::string>("no key"); };
  const std::string text = first_config(wanted, random);
  EXPECT_THAT(fields_of(missing_in(text, kPath, wanted, wrong)),
              ElementsAre("source[1].secrets[1]"));
}

TEST(FirstConfig, TheVariableIsNamedAfterTheProvider) {
  const auto variable_of = [](std::string_view name) {
    return FirstConfig{preset(name), ""}.variable();
  };
  EXPECT_EQ(variable_of("stripe"), "STRIPE_WEBHOOK_SECRET");
  EXPECT_EQ(variable_of("shopify-events"), "SHOPIFY_WEBHOOK_SECRET");
  EXPECT_EQ(variable_of("cal-com"), "CAL_COM_WEBHOOK_SECRET");
  EXPECT_EQ(variable_of("asana"), "") << "the provider sends the secret in its handshake";
  EXPECT_EQ(variable_of("monday"), "") << "the provider does not sign";
}

TEST(FirstConfig, WithoutAPresetHasANewSecret) {
  test::SeededRandom random(1);
  const std::string first = first_config({}, random);
  EXPECT_NE(first, first_config({}, random));
  const auto none = [](const std::string&) { return std::optional<std::string>(); };
  const daemon::Loaded loaded = daemon::load_config_text(first, kPath, kMode, none);
  EXPECT_THAT(loaded.problems, IsEmpty());
  EXPECT_THAT(loaded.warnings, IsEmpty());
  ASSERT_TRUE(loaded.config);
  EXPECT_EQ(loaded.config->sources.at(0).name, "demo");
  EXPECT_THAT(loaded.config->sources.at(0).deliver_to, ElementsAre("work"));
}

}  // namespace
}  // namespace hapax::cli
