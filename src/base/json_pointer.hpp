// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace hapax {

inline constexpr std::size_t kMaxPointerSteps = 32;

// A JSON pointer by RFC 6901: "", or up to kMaxPointerSteps steps, each preceded by '/', with '~'
// only in "~0" (a '~') and "~1" (a '/').
bool is_json_pointer(std::string_view text);

// The first step of a non-empty pointer, and the rest of the pointer.
class PointerStep {
 public:
  explicit PointerStep(std::string_view pointer);

  std::string_view name() const { return decoded_.empty() ? written_ : decoded_; }
  std::string_view rest() const { return rest_; }
  bool is_star() const { return written_ == "*"; }
  // As an array index: "0", or digits without a leading zero.
  std::optional<std::size_t> index() const;

 private:
  std::string_view written_;
  std::string_view rest_;
  std::string decoded_;  // empty if equal to written_
};

}  // namespace hapax
