// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "cli/arguments.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace hapax::cli {

inline Option store_option(std::string& url) {
  return {"--store", &url, "The store, such as sqlite:app.db", kRequired};
}

// A command whose only option is a store.
inline Command store_command(std::string_view name, std::string_view help,
                             Result<int> (*run)(const std::string& url, const Output& output)) {
  auto url = std::make_shared<std::string>();
  return {.name = name, .help = help, .options = {store_option(*url)}, .run = run_with(url, run)};
}

}  // namespace hapax::cli
