// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "verify/rewrite.hpp"

#include <algorithm>

namespace hapax::verify_detail {

namespace {

constexpr std::size_t kMaxDepth = 256;

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

// The length of the string at the front, quotes included; 0 if it is not closed.
std::size_t string_length(std::string_view text) {
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      return i + 1;
    }
  }
  return 0;
}

class Styler {
 public:
  explicit Styler(const JsonStyle& style) : style_(style) {}

  std::optional<std::string> run(std::string_view text) {
    while (!text.empty()) {
      const std::size_t taken = take(text);
      if (taken == 0 || depth_ > kMaxDepth) return std::nullopt;
      text.remove_prefix(taken);
    }
    if (depth_ != 0) return std::nullopt;
    return std::move(out_);
  }

 private:
  // Copies the token at the front. Returns its length, or 0 if it is invalid.
  std::size_t take(std::string_view text) {
    const char c = text.front();
    if (is_space(c)) return 1;
    if (c == '}' || c == ']') return close(c);
    if (opened_) line_break();
    opened_ = false;
    if (c == '"') {
      const std::size_t length = string_length(text);
      out_ += text.substr(0, length);
      return length;
    }
    out_ += c;
    if (c == '{' || c == '[') {
      ++depth_;
      opened_ = true;
    } else if (c == ',') {
      out_ += style_.after_comma;
      line_break();
    } else if (c == ':') {
      out_ += style_.after_colon;
    }
    return 1;
  }

  std::size_t close(char bracket) {
    if (depth_ == 0) return 0;
    --depth_;
    if (!opened_) line_break();
    opened_ = false;
    out_ += bracket;
    return 1;
  }

  void line_break() {
    if (style_.indent == 0) return;
    out_ += '\n';
    out_.append(depth_ * static_cast<std::size_t>(style_.indent), ' ');
  }

  const JsonStyle& style_;
  std::string out_;
  std::size_t depth_ = 0;
  bool opened_ = false;  // the previous token was an opening bracket
};

}  // namespace

std::optional<std::string> restyled_json(std::string_view text, const JsonStyle& style) {
  return Styler(style).run(text);
}

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  for (std::size_t at = 0;;) {
    const std::size_t found = text.find(from, at);
    out += text.substr(at, found - at);
    if (found == std::string_view::npos) return out;
    out += to;
    at = found + from.size();
  }
}

}  // namespace hapax::verify_detail
