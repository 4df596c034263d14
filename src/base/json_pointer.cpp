// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/json_pointer.hpp"

#include <algorithm>
#include <charconv>

namespace hapax {

namespace {

std::string decode(std::string_view step) {
  std::string name;
  for (std::size_t i = 0; i < step.size(); ++i) {
    if (step[i] == '~' && i + 1 < step.size()) {
      name += step[++i] == '1' ? '/' : '~';
    } else {
      name += step[i];
    }
  }
  return name;
}

}  // namespace

bool is_json_pointer(std::string_view text) {
  if (!text.empty() && text.front() != '/') return false;
  std::size_t steps = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '/') ++steps;
    if (text[i] != '~') continue;
    ++i;
    if (i == text.size() || (text[i] != '0' && text[i] != '1')) return false;
  }
  return steps <= kMaxPointerSteps;
}

PointerStep::PointerStep(std::string_view pointer) {
  const std::size_t end = std::min(pointer.find('/', 1), pointer.size());
  written_ = pointer.substr(1, end - 1);
  rest_ = pointer.substr(end);
  if (written_.find('~') != std::string_view::npos) decoded_ = decode(written_);
}

std::optional<std::size_t> PointerStep::index() const {
  if (written_.size() > 1 && written_.front() == '0') return std::nullopt;
  std::size_t value = 0;
  const char* end = written_.data() + written_.size();
  const auto [rest, failure] = std::from_chars(written_.data(), end, value);
  if (failure != std::errc() || rest != end) return std::nullopt;
  return value;
}

}  // namespace hapax
