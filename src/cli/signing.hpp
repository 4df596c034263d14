// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/verify.hpp>

#include "cli/arguments.hpp"

#include <string>
#include <vector>

namespace hapax::cli {

// What `verify`, `sign` and `send` have in common: whose scheme, which secrets, when.
struct SchemeArguments {
  std::string preset;
  std::vector<std::string> secrets;
  std::vector<std::string> secret_env;
  std::string key_id;
  std::vector<std::string> parameters;  // "name=value"
  std::string url;
  std::string now;

  std::vector<Option> options();  // which point into this
};

// The arguments, understood.
struct SchemeChoice {
  const Preset* preset = nullptr;
  std::vector<std::string> secrets;
  std::string key_id;
  std::vector<OwnedHeader> parameters;
  WallTime now{};

  // Views into this choice.
  std::vector<Header> parameter_views() const;
};

// invalid_argument: there is no such preset; with the nearest names.
Result<const Preset*> find_preset(const std::string& name);

// invalid_argument: an unknown preset (with the nearest names), no secret, a time that is none.
Result<SchemeChoice> choose(const SchemeArguments& arguments);

}  // namespace hapax::cli
