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

// More in one header is not a rotation.
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

// The signatures of one list, as text, with the timestamp that stands among them.
struct SignatureList {
  std::array<std::string_view, kMaxSignatures> texts;
  std::size_t count = 0;
  std::optional<std::string_view> time;

  std::span<const std::string_view> signatures() const { return {texts.data(), count}; }
};

// Reads one list (or the one signature) of `place`. header_malformed: too many, or two timestamps.
// A list without a signature in it is no failure.
MaybeFailure read_list(const Place& place, std::string_view value, SignatureList& list);

// The bytes of a signature; nothing when it is not written as it has to be.
std::optional<std::string_view> decode(std::string_view text, Encoding encoding,
                                       std::span<unsigned char> buffer);
std::string encode(std::string_view bytes, Encoding encoding);

// Whether an opaque timestamp is short and of the letters that times are made of. Otherwise the
// start of a body could be moved into it: "{time}{body}" would be signed all the same.
bool is_time_like(std::string_view text);

// A timestamp as the format says; nothing when it is not one.
std::optional<WallTime> read_time(std::string_view text, TimeFormat format);
std::string write_time(WallTime time, TimeFormat format);

// Nothing when `time` is inside the window.
MaybeFailure check_window(WallTime time, WallTime now, const TimePlace& place);

}  // namespace hapax::verify_detail
