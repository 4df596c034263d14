// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "verify/nfkd.hpp"

#include "base/utf8.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace hapax::verify_detail {

namespace {

struct Row {
  std::uint16_t character;
  std::string_view decomposed;
};

// From Unicode's decomposition table: Latin-1 Supplement and Latin Extended-A.
// clang-format off
constexpr std::array kRows = std::to_array<Row>({
    {0x00a0, " "},
    {0x00a8, " \xcc\x88"},
    {0x00aa, "a"},
    {0x00af, " \xcc\x84"},
    {0x00b2, "2"},
    {0x00b3, "3"},
    {0x00b4, " \xcc\x81"},
    {0x00b5, "\xce\xbc"},
    {0x00b8, " \xcc\xa7"},
    {0x00b9, "1"},
    {0x00ba, "o"},
    {0x00bc, "1\xe2\x81\x84""4"},
    {0x00bd, "1\xe2\x81\x84""2"},
    {0x00be, "3\xe2\x81\x84""4"},
    {0x00c0, "A\xcc\x80"},
    {0x00c1, "A\xcc\x81"},
    {0x00c2, "A\xcc\x82"},
    {0x00c3, "A\xcc\x83"},
    {0x00c4, "A\xcc\x88"},
    {0x00c5, "A\xcc\x8a"},
    {0x00c7, "C\xcc\xa7"},
    {0x00c8, "E\xcc\x80"},
    {0x00c9, "E\xcc\x81"},
    {0x00ca, "E\xcc\x82"},
    {0x00cb, "E\xcc\x88"},
    {0x00cc, "I\xcc\x80"},
    {0x00cd, "I\xcc\x81"},
    {0x00ce, "I\xcc\x82"},
    {0x00cf, "I\xcc\x88"},
    {0x00d1, "N\xcc\x83"},
    {0x00d2, "O\xcc\x80"},
    {0x00d3, "O\xcc\x81"},
    {0x00d4, "O\xcc\x82"},
    {0x00d5, "O\xcc\x83"},
    {0x00d6, "O\xcc\x88"},
    {0x00d9, "U\xcc\x80"},
    {0x00da, "U\xcc\x81"},
    {0x00db, "U\xcc\x82"},
    {0x00dc, "U\xcc\x88"},
    {0x00dd, "Y\xcc\x81"},
    {0x00e0, "a\xcc\x80"},
    {0x00e1, "a\xcc\x81"},
    {0x00e2, "a\xcc\x82"},
    {0x00e3, "a\xcc\x83"},
    {0x00e4, "a\xcc\x88"},
    {0x00e5, "a\xcc\x8a"},
    {0x00e7, "c\xcc\xa7"},
    {0x00e8, "e\xcc\x80"},
    {0x00e9, "e\xcc\x81"},
    {0x00ea, "e\xcc\x82"},
    {0x00eb, "e\xcc\x88"},
    {0x00ec, "i\xcc\x80"},
    {0x00ed, "i\xcc\x81"},
    {0x00ee, "i\xcc\x82"},
    {0x00ef, "i\xcc\x88"},
    {0x00f1, "n\xcc\x83"},
    {0x00f2, "o\xcc\x80"},
    {0x00f3, "o\xcc\x81"},
    {0x00f4, "o\xcc\x82"},
    {0x00f5, "o\xcc\x83"},
    {0x00f6, "o\xcc\x88"},
    {0x00f9, "u\xcc\x80"},
    {0x00fa, "u\xcc\x81"},
    {0x00fb, "u\xcc\x82"},
    {0x00fc, "u\xcc\x88"},
    {0x00fd, "y\xcc\x81"},
    {0x00ff, "y\xcc\x88"},
    {0x0100, "A\xcc\x84"},
    {0x0101, "a\xcc\x84"},
    {0x0102, "A\xcc\x86"},
    {0x0103, "a\xcc\x86"},
    {0x0104, "A\xcc\xa8"},
    {0x0105, "a\xcc\xa8"},
    {0x0106, "C\xcc\x81"},
    {0x0107, "c\xcc\x81"},
    {0x0108, "C\xcc\x82"},
    {0x0109, "c\xcc\x82"},
    {0x010a, "C\xcc\x87"},
    {0x010b, "c\xcc\x87"},
    {0x010c, "C\xcc\x8c"},
    {0x010d, "c\xcc\x8c"},
    {0x010e, "D\xcc\x8c"},
    {0x010f, "d\xcc\x8c"},
    {0x0112, "E\xcc\x84"},
    {0x0113, "e\xcc\x84"},
    {0x0114, "E\xcc\x86"},
    {0x0115, "e\xcc\x86"},
    {0x0116, "E\xcc\x87"},
    {0x0117, "e\xcc\x87"},
    {0x0118, "E\xcc\xa8"},
    {0x0119, "e\xcc\xa8"},
    {0x011a, "E\xcc\x8c"},
    {0x011b, "e\xcc\x8c"},
    {0x011c, "G\xcc\x82"},
    {0x011d, "g\xcc\x82"},
    {0x011e, "G\xcc\x86"},
    {0x011f, "g\xcc\x86"},
    {0x0120, "G\xcc\x87"},
    {0x0121, "g\xcc\x87"},
    {0x0122, "G\xcc\xa7"},
    {0x0123, "g\xcc\xa7"},
    {0x0124, "H\xcc\x82"},
    {0x0125, "h\xcc\x82"},
    {0x0128, "I\xcc\x83"},
    {0x0129, "i\xcc\x83"},
    {0x012a, "I\xcc\x84"},
    {0x012b, "i\xcc\x84"},
    {0x012c, "I\xcc\x86"},
    {0x012d, "i\xcc\x86"},
    {0x012e, "I\xcc\xa8"},
    {0x012f, "i\xcc\xa8"},
    {0x0130, "I\xcc\x87"},
    {0x0132, "IJ"},
    {0x0133, "ij"},
    {0x0134, "J\xcc\x82"},
    {0x0135, "j\xcc\x82"},
    {0x0136, "K\xcc\xa7"},
    {0x0137, "k\xcc\xa7"},
    {0x0139, "L\xcc\x81"},
    {0x013a, "l\xcc\x81"},
    {0x013b, "L\xcc\xa7"},
    {0x013c, "l\xcc\xa7"},
    {0x013d, "L\xcc\x8c"},
    {0x013e, "l\xcc\x8c"},
    {0x013f, "L\xc2\xb7"},
    {0x0140, "l\xc2\xb7"},
    {0x0143, "N\xcc\x81"},
    {0x0144, "n\xcc\x81"},
    {0x0145, "N\xcc\xa7"},
    {0x0146, "n\xcc\xa7"},
    {0x0147, "N\xcc\x8c"},
    {0x0148, "n\xcc\x8c"},
    {0x0149, "\xca\xbcn"},
    {0x014c, "O\xcc\x84"},
    {0x014d, "o\xcc\x84"},
    {0x014e, "O\xcc\x86"},
    {0x014f, "o\xcc\x86"},
    {0x0150, "O\xcc\x8b"},
    {0x0151, "o\xcc\x8b"},
    {0x0154, "R\xcc\x81"},
    {0x0155, "r\xcc\x81"},
    {0x0156, "R\xcc\xa7"},
    {0x0157, "r\xcc\xa7"},
    {0x0158, "R\xcc\x8c"},
    {0x0159, "r\xcc\x8c"},
    {0x015a, "S\xcc\x81"},
    {0x015b, "s\xcc\x81"},
    {0x015c, "S\xcc\x82"},
    {0x015d, "s\xcc\x82"},
    {0x015e, "S\xcc\xa7"},
    {0x015f, "s\xcc\xa7"},
    {0x0160, "S\xcc\x8c"},
    {0x0161, "s\xcc\x8c"},
    {0x0162, "T\xcc\xa7"},
    {0x0163, "t\xcc\xa7"},
    {0x0164, "T\xcc\x8c"},
    {0x0165, "t\xcc\x8c"},
    {0x0168, "U\xcc\x83"},
    {0x0169, "u\xcc\x83"},
    {0x016a, "U\xcc\x84"},
    {0x016b, "u\xcc\x84"},
    {0x016c, "U\xcc\x86"},
    {0x016d, "u\xcc\x86"},
    {0x016e, "U\xcc\x8a"},
    {0x016f, "u\xcc\x8a"},
    {0x0170, "U\xcc\x8b"},
    {0x0171, "u\xcc\x8b"},
    {0x0172, "U\xcc\xa8"},
    {0x0173, "u\xcc\xa8"},
    {0x0174, "W\xcc\x82"},
    {0x0175, "w\xcc\x82"},
    {0x0176, "Y\xcc\x82"},
    {0x0177, "y\xcc\x82"},
    {0x0178, "Y\xcc\x88"},
    {0x0179, "Z\xcc\x81"},
    {0x017a, "z\xcc\x81"},
    {0x017b, "Z\xcc\x87"},
    {0x017c, "z\xcc\x87"},
    {0x017d, "Z\xcc\x8c"},
    {0x017e, "z\xcc\x8c"},
    {0x017f, "s"},
});
// clang-format on

constexpr bool is_covered(std::uint32_t character) {
  return character >= 0xa0 && character < 0x180;
}

}  // namespace

std::optional<std::string> nfkd(std::string_view text) {
  std::string normal;
  while (!text.empty()) {
    const auto [character, size] = first_character(text);
    if (size == 0) return std::nullopt;
    if (character >= 0x80 && !is_covered(character)) return std::nullopt;
    const auto* row = std::lower_bound(
        kRows.begin(), kRows.end(), character,
        [](const Row& each, std::uint32_t wanted) { return each.character < wanted; });
    const bool found = row != kRows.end() && row->character == character;
    normal += found ? row->decomposed : text.substr(0, size);
    text.remove_prefix(size);
  }
  return normal;
}

}  // namespace hapax::verify_detail
