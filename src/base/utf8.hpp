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
  std::size_t size = 0;  // in bytes; 0 if the text does not begin with valid UTF-8
};

// The first character of `text`, which must not be empty. Strict: no surrogates, nothing above
// U+10FFFF, no overlong encodings.
Utf8Character first_character(std::string_view text);

// The JSON escape of `code`, like \u009b. For codes below 65,536 only.
std::string escape_of(std::uint32_t code);

// True if a terminal or viewer would interpret the character instead of displaying it: controls of
// ASCII and Latin-1 (U+009B starts a command as ESC [ does), line separators, and overrides of the
// writing direction, which can make one text look like another.
bool is_command(std::uint32_t code);

// `text` for display in a terminal: ASCII controls and bytes that are not UTF-8 become '?', other
// is_command() characters become \u009b escapes. Characters in `keep` (ASCII) are unchanged.
std::string printable(std::string_view text, std::string_view keep = {});
// Escapes the is_command() characters from U+007F in JSON text. The value is unchanged.
std::string printable_json(std::string_view json);

}  // namespace hapax
