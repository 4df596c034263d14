// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/verify.hpp>

#include <deque>
#include <memory>
#include <string>

namespace hapax::gateway {

// A scheme with texts of its own: those of a configuration go with the file that was read.
struct OwnScheme {
  std::deque<std::string> texts;
  Scheme scheme;
};

std::shared_ptr<const OwnScheme> own_scheme(const Scheme& scheme);

}  // namespace hapax::gateway
