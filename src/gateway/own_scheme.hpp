// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/verify.hpp>

#include <deque>
#include <memory>
#include <string>

namespace hapax::gateway {

// A scheme that owns its texts. Those of a configuration live only as long as the parsed file.
struct OwnScheme {
  std::deque<std::string> texts;
  Scheme scheme;
};

std::shared_ptr<const OwnScheme> own_scheme(const Scheme& scheme);

}  // namespace hapax::gateway
