// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include <hapax/verify.hpp>

#include "base/json.hpp"

namespace hapax {

Scratch::Scratch() : json_(std::make_unique<JsonReader>()) {}
Scratch::~Scratch() = default;
Scratch::Scratch(Scratch&&) noexcept = default;
Scratch& Scratch::operator=(Scratch&&) noexcept = default;

}  // namespace hapax
