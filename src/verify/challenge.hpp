// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "verify/hmac.hpp"

#include <hapax/verify.hpp>

#include <cstddef>
#include <string_view>

namespace hapax::verify_detail {

// Checks whether a message, added in pieces, has the form of a challenge. Stores none of it and
// inspects no more bytes than a challenge can have.
class ChallengeForm final : public Sink {
 public:
  explicit ChallengeForm(Challenge form) : form_(form) {}
  void add(std::string_view bytes) override;
  bool fits() const;

 private:
  const Challenge form_;
  std::size_t size_ = 0;
  bool letters_ = true;  // all bytes are in the alphabet of the form
};

// Whether `text` has the form; never for Challenge::none.
bool is_challenge(Challenge form, std::string_view text);

}  // namespace hapax::verify_detail
