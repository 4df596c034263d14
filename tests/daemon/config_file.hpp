// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "daemon/config.hpp"
#include "support/world.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <map>

namespace hapax::daemon {

// Loads configuration texts, with the given environment variables.
class ConfigFile : public testing::Test {
 protected:
  explicit ConfigFile(std::map<std::string, std::string> variables = {})
      : variables_(std::move(variables)) {}

  Loaded load(const std::string& text) {
    std::ofstream(directory_.file("hapax.toml"), std::ios::binary) << text;
    chmod(directory_.file("hapax.toml").c_str(), 0600);
    return load_config(directory_.file("hapax.toml"), [this](const std::string& name) {
      const auto found = variables_.find(name);
      return found == variables_.end() ? std::nullopt : std::optional(found->second);
    });
  }
  // The only problem of the text, without the file name.
  std::string problem(const std::string& text) {
    const Loaded loaded = load(text);
    EXPECT_EQ(loaded.problems.size(), 1U) << text;
    if (loaded.problems.empty()) return "";
    for (const Problem& each : loaded.problems) shown_ += each.to_string() + "\n";
    const std::string whole = loaded.problems.front().to_string();
    return whole.substr(whole.find("toml:") + 5);
  }

  const std::map<std::string, std::string> variables_;
  test::TempDir directory_;
  std::string shown_;  // all problems so far
};

}  // namespace hapax::daemon
