// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hapax {

struct Utf8Character {
  std::uint32_t code = 0;
  std::size_t size = 0;  // how many bytes it has; 0: there is no UTF-8 at the front
};

// The character at the front of `text`, which is not empty. Strict: no surrogates, nothing beyond
// U+10FFFF, nothing written longer than it has to be.
Utf8Character first_character(std::string_view text);

// As JSON writes it: \u009b. Of the first 65,536.
std::string escape_of(std::uint32_t code);

// A terminal or a viewer would obey it in place of showing it: the controls of ASCII and of Latin-1
// (U+009B begins a command as ESC [ does), separators of lines, and overrides of the direction of
// writing, with which a text can be made to look like another.
bool is_command(std::uint32_t code);

// `text` for a person's terminal: controls of ASCII and bytes that are not UTF-8 as '?', other
// characters that are commands as \u009b. Those in `keep` (ASCII) stay.
std::string printable(std::string_view text, std::string_view keep = {});
// A JSON text of any writer, with those beyond ASCII as escapes; it says the same.
std::string printable_json(std::string_view json);

}  // namespace hapax
