// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "verify/hmac.hpp"

#include <hapax/verify.hpp>

#include <cstddef>
#include <string_view>

namespace hapax::verify_detail {

// Takes a message piece by piece and says whether it has the form of a challenge. Keeps nothing of
// it, and looks at no more than a challenge can have.
class ChallengeForm final : public Sink {
 public:
  explicit ChallengeForm(Challenge form) : form_(form) {}
  void add(std::string_view bytes) override;
  bool fits() const;

 private:
  const Challenge form_;
  std::size_t size_ = 0;
  bool letters_ = true;  // nothing but letters of the form
};

// Whether `text` has the form; never for Challenge::none.
bool is_challenge(Challenge form, std::string_view text);

}  // namespace hapax::verify_detail
