// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "env/world.hpp"
#include "store/driver.hpp"
#include "store/url.hpp"

#include <memory>
#include <string_view>

namespace hapax::store {

// A driver, with the clock and the random source it uses.
struct Opened {
  explicit Opened(const OpenOptions& options) : world(options.clock, options.random) {}

  World world;
  Driver driver;
};

// As hapax::open, for callers that need more than dedup: the server and the tests.
Result<std::unique_ptr<Opened>> open_store(const StoreUrl& url, const OpenOptions& options);
Result<std::unique_ptr<Opened>> open_store(std::string_view url, const OpenOptions& options);

}  // namespace hapax::store
