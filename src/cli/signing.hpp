// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/verify.hpp>

#include "cli/arguments.hpp"

#include <string>
#include <vector>

namespace hapax::cli {

// Common arguments of `verify`, `sign` and `send`: scheme, secrets and time.
struct SchemeArguments {
  std::string preset;
  std::vector<std::string> secrets;
  std::vector<std::string> secret_env;
  std::string key_id;
  std::vector<std::string> parameters;  // "name=value"
  std::string url;
  std::string now;

  std::vector<Option> options();  // they point into this object
};

// The parsed arguments.
struct SchemeChoice {
  const Preset* preset = nullptr;
  std::vector<std::string> secrets;
  std::string key_id;
  std::vector<OwnedHeader> parameters;
  WallTime now{};

  // Views into this object.
  std::vector<Header> parameter_views() const;
};

// invalid_argument: no such preset; the message suggests similar names.
Result<const Preset*> find_preset(const std::string& name);

// invalid_argument: an unknown preset (with similar names), no secret, or an invalid time.
Result<SchemeChoice> choose(const SchemeArguments& arguments);

}  // namespace hapax::cli
