// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "verify/message.hpp"

#include <hapax/verify.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace hapax::verify_detail {

// A rotation of secrets does not need more in one header.
inline constexpr std::size_t kMaxSignatures = 16;
inline constexpr std::size_t kMaxSignatureText = 4096;  // RSA of 8192 bits in base64 is 1368
inline constexpr std::size_t kMaxSignatureBytes = 1024;

// A SignaturePlace that owns its text.
struct Place {
  Field::From from = Field::From::header;
  std::string name;
  bool numbered = false;  // any header that starts with `name`
  Encoding encoding = Encoding::hex;
  std::string prefix;
  char item = 0;
  char pair = 0;
  std::string label;
  std::string time_label;
  char set = 0;
  bool time_first = false;
  bool spaces = false;
  bool first_only = false;
  int secret = -1;

  static Result<Place> make(const SignaturePlace& place, std::string_view key_id);
};

// The signatures of one list, as text, and its timestamp.
struct SignatureList {
  std::array<std::string_view, kMaxSignatures> texts;
  std::size_t count = 0;
  std::optional<std::string_view> time;

  std::span<const std::string_view> signatures() const { return {texts.data(), count}; }
};

// Reads one list (or the only signature) of `place`. header_malformed: too many signatures, or two
// timestamps. A list without signatures is not a failure.
MaybeFailure read_list(const Place& place, std::string_view value, SignatureList& list);

// Decodes a signature; nullopt if it is malformed.
std::optional<std::string_view> decode(std::string_view text, Encoding encoding,
                                       std::span<unsigned char> buffer);
std::string encode(std::string_view bytes, Encoding encoding);

// Whether an opaque timestamp is short and consists of characters used in times. Otherwise the
// start of a body could be moved into it, because "{time}{body}" would stay the same.
bool is_time_like(std::string_view text);

// Parses a timestamp; nullopt if it does not have the format.
std::optional<WallTime> read_time(std::string_view text, TimeFormat format);
std::string write_time(WallTime time, TimeFormat format);

// nullopt if `time` is inside the window.
MaybeFailure check_window(WallTime time, WallTime now, const TimePlace& place);

}  // namespace hapax::verify_detail
