// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "verify/parts.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace hapax::verify_detail {

// Each costs a hash of the message. The sets of one request differ by their secret, hardly by their
// time.
inline constexpr std::size_t kMaxTimes = 2;
// Each costs a hash of the message, unlike those of other algorithms.
inline constexpr std::size_t kMaxEd25519 = 4;

// A signature that a request brings. Without initialisers, as an array of them is on the way of
// every request.
struct Candidate {
  const Place* place;
  const char* data;
  std::uint32_t size;
  std::uint32_t time;  // its place among times()

  std::string_view text() const { return {data, size}; }
};

struct SignedTime {
  std::string_view text;          // as it is written; empty when the scheme has none
  std::optional<WallTime> value;  // nothing when it is not looked at
};

// Of two verdicts the one that says more: how far the check came. The first of equal ones.
void keep_better(Verdict& best, Verdict other);

// All signatures of a request (or of one item of it), read before anything is computed. So a digest
// is computed once, however many signatures stand to be compared with it. Allocates nothing for
// those in headers.
class Candidates {
 public:
  Candidates(const Verifier::Parts& parts, const Request& request, const Headers& headers,
             FieldReader& fields)
      : parts_(parts), request_(request), headers_(headers), fields_(fields) {}

  // Reads them anew. `item`: the one item that they are of, or null. A failure: there are more than
  // any sender brings, and none of them counts.
  MaybeFailure read(JsonReader* item);

  std::span<const Candidate> all() const { return {all_.data(), count_}; }
  std::span<const SignedTime> times() const { return {times_.data(), time_count_}; }
  // Why a place gave none, or less than it could have.
  const std::optional<Verdict>& refusal() const { return refusal_; }

 private:
  enum class TimeFound : std::uint8_t { yes, no, too_many };

  MaybeFailure read_place(const Place& place, std::string& text, JsonReader* item);
  MaybeFailure read_numbered(const Place& place);
  MaybeFailure read_sets(const Place& place, std::string_view value);
  MaybeFailure read_set(const Place& place, std::string_view value);
  TimeFound find_time(const SignatureList& list, std::size_t& index);
  MaybeFailure find_time_text(const SignatureList& list, std::string_view& text);
  void note(Failure failure);

  const Verifier::Parts& parts_;
  const Request& request_;
  const Headers& headers_;
  FieldReader& fields_;
  std::array<Candidate, kMaxSignatures> all_;
  std::size_t count_ = 0;
  std::array<SignedTime, kMaxTimes> times_;
  std::size_t time_count_ = 0;
  std::optional<Verdict> refusal_;
  std::array<std::string, 2> texts_;  // of places in the body
  std::string time_text_;             // of a time in the body
};

}  // namespace hapax::verify_detail
