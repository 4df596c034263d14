// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "model/numbers.hpp"

#include <optional>
#include <string>
#include <string_view>

// The numbers of events, deliveries and rejects as people and programs outside see them: opaque
// text of lower-case letters and digits. A letter for the kind, the number in base 32 (so that ids
// sort as numbers do), and two characters that a slip of the finger does not get right.
namespace hapax {

// A delivery has no number of its own: it is the n-th of its event, from 1.
inline constexpr std::int64_t kMaxDeliveryNo = (1 << 10) - 1;

struct DeliveryRef {
  EventNo event;
  DeliveryNo delivery;

  friend auto operator<=>(const DeliveryRef&,
                          const DeliveryRef&) = default;  // NOLINT: no null here
};

std::string to_text(EventNo number);
std::string to_text(RejectNo number);
std::string to_text(const DeliveryRef& delivery);  // the Idempotency-Key of its every attempt

// Nothing unless to_text() could have made exactly this text.
std::optional<EventNo> event_from(std::string_view text);
std::optional<RejectNo> reject_from(std::string_view text);
std::optional<DeliveryRef> delivery_from(std::string_view text);

}  // namespace hapax
