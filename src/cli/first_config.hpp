// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>
#include <hapax/verify.hpp>

#include "daemon/config.hpp"

#include <string>
#include <vector>

namespace hapax::cli {

// The arguments of 'hapax init' that determine the file.
struct FirstConfig {
  // Null: a source "demo" of Standard Webhooks, with a new secret.
  const Preset* preset = nullptr;
  // URL of a push destination named "handler"; empty: a pull destination named "work".
  std::string to = {};

  std::string source() const { return preset == nullptr ? "demo" : std::string(preset->name); }
  std::string destination() const { return to.empty() ? "work" : "handler"; }
  // The environment variable with the secret: STRIPE_WEBHOOK_SECRET. Empty: the file needs none.
  std::string variable() const;
};

// The text of a first hapax.toml. Further keys that the preset needs are comments to complete;
// 'hapax check' reports them until they are set.
std::string first_config(const FirstConfig& wanted, Random& random);

// What is missing in that text if it is stored at `path`, apart from an unset variable: the
// problems that 'hapax check' will report, and keys without which the provider's handshake fails.
std::vector<daemon::Problem> missing_in(const std::string& text, const std::string& path,
                                        const FirstConfig& wanted,
                                        const daemon::Variable& variable);

}  // namespace hapax::cli
