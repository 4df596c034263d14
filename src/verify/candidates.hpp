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

// Each timestamp costs a hash of the message. The lists of one request differ in their secret, and
// rarely in their timestamp.
inline constexpr std::size_t kMaxTimes = 2;
// Each signature costs a hash of the message, unlike with other algorithms.
inline constexpr std::size_t kMaxEd25519 = 4;

// A signature found in a request. The members have no initializers, because every verification
// constructs an array of candidates.
struct Candidate {
  const Place* place;
  const char* data;
  std::uint32_t size;
  std::uint32_t time;  // index in times()

  std::string_view text() const { return {data, size}; }
};

struct SignedTime {
  std::string_view text;          // verbatim; empty if the scheme has none
  std::optional<WallTime> value;  // nullopt if it is not parsed
};

// Replaces `best` with `other` if the check of `other` got further.
void keep_better(Verdict& best, Verdict other);

// All signatures of a request (or of one of its items), read before any digest is computed, so that
// each digest is computed once however many signatures are compared with it. Signatures in headers
// cause no allocation.
class Candidates {
 public:
  Candidates(const Verifier::Parts& parts, const Request& request, const Headers& headers,
             FieldReader& fields)
      : parts_(parts), request_(request), headers_(headers), fields_(fields) {}

  // Replaces the candidates by those of `item`, or of the request if it is null. Fails if there are
  // more than any sender would send; the request is then rejected.
  MaybeFailure read(JsonReader* item);

  std::span<const Candidate> all() const { return {all_.data(), count_}; }
  std::span<const SignedTime> times() const { return {times_.data(), time_count_}; }
  // Why a place contained no signature, or why some of its signatures were skipped.
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
  std::array<std::string, 2> texts_;  // for places in the body
  std::string time_text_;             // for a time in the body
};

}  // namespace hapax::verify_detail
