// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "base/try.hpp"
#include "cli/arguments.hpp"
#include "store/url.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace hapax::cli {

inline Option store_option(std::string& url) {
  return {"--store", &url, "The store, such as sqlite:app.db", kRequired};
}

// A command whose only option is a store.
inline Command store_command(std::string_view name, std::string_view help,
                             Result<int> (*run)(const store::StoreUrl& url, const Output& output)) {
  auto url = std::make_shared<std::string>();
  const auto parse_and_run = [url, run](const Output& output) -> Result<int> {
    HAPAX_TRY_ASSIGN(parsed, store::StoreUrl::parse(*url));
    return run(parsed, output);
  };
  return {.name = name, .help = help, .options = {store_option(*url)}, .run = parse_and_run};
}

}  // namespace hapax::cli
