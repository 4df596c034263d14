// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>
#include <hapax/verify.hpp>

#include "daemon/config.hpp"

#include <string>
#include <vector>

namespace hapax::cli {

// What 'hapax init' is asked for.
struct FirstConfig {
  // Null: a source "demo" of Standard Webhooks, with a fresh secret.
  const Preset* preset = nullptr;
  // A destination "handler" posts there; empty: workers pull from one called "work".
  std::string to = {};

  std::string source() const { return preset == nullptr ? "demo" : std::string(preset->name); }
  std::string destination() const { return to.empty() ? "work" : "handler"; }
  // The environment variable with the secret: STRIPE_WEBHOOK_SECRET. Empty: the file names none.
  std::string variable() const;
};

// The text of a first hapax.toml. Whatever else the preset needs is in it as a comment to complete:
// 'hapax check' reports those keys until they are written.
std::string first_config(const FirstConfig& wanted, Random& random);

// What that text lacks besides the variable, to be read as if it was at `path`: what 'hapax check'
// will report, and what only the provider would notice.
std::vector<daemon::Problem> missing_in(const std::string& text, const std::string& path,
                                        const FirstConfig& wanted,
                                        const daemon::Variable& variable);

}  // namespace hapax::cli
