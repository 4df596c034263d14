// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "verify/challenge.hpp"

#include "base/ascii.hpp"

#include <hapax/verify.hpp>

#include <algorithm>

namespace hapax::verify_detail {

namespace {

struct Sizes {
  std::size_t least;
  std::size_t most;
};

constexpr Sizes sizes_of(Challenge form) {
  return form == Challenge::short_hex ? Sizes{20, 32} : Sizes{1, kMaxChallenge};
}

bool is_hex_letter(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

bool is_base64_letter(char c) {
  return is_alphanumeric_or("+/=_.-", c);
}

}  // namespace

void ChallengeForm::add(std::string_view bytes) {
  size_ += bytes.size();
  if (!letters_ || size_ > sizes_of(form_).most) return;
  letters_ = std::all_of(bytes.begin(), bytes.end(),
                         form_ == Challenge::short_hex ? is_hex_letter : is_base64_letter);
}

bool ChallengeForm::fits() const {
  const Sizes sizes = sizes_of(form_);
  return form_ != Challenge::none && letters_ && size_ >= sizes.least && size_ <= sizes.most;
}

bool is_challenge(Challenge form, std::string_view text) {
  ChallengeForm taken(form);
  taken.add(text);
  return taken.fits();
}

}  // namespace hapax::verify_detail
