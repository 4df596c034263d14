// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/json_text.hpp"

#include "base/utf8.hpp"

#include <algorithm>

namespace hapax {

namespace {

bool is_plain(char c) {
  return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

}  // namespace

void append_json(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const auto plain = static_cast<std::size_t>(
        std::find_if_not(text.begin(), text.end(), is_plain) - text.begin());
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const Utf8Character character = first_character(text);
    const auto byte = static_cast<unsigned char>(text.front());
    if (byte == '"' || byte == '\\') {
      out += '\\';
      out += text.front();
    } else if (character.size == 0 || is_command(character.code)) {
      out += escape_of(character.size == 0 ? byte : character.code);
    } else {
      out += text.substr(0, character.size);
    }
    text.remove_prefix(std::max<std::size_t>(character.size, 1));
  }
  out += '"';
}

std::string json_string(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 2);
  append_json(out, text);
  return out;
}

}  // namespace hapax
