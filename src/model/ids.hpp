// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "model/numbers.hpp"

#include <optional>
#include <string>
#include <string_view>

// The public form of event, delivery and reject numbers: opaque text of lower-case letters and
// digits. A letter for the kind, the number in base 32 (so that ids sort like numbers), and two
// check characters against typos.
namespace hapax {

// Deliveries are numbered within their event, from 1.
inline constexpr std::int64_t kMaxDeliveryNo = (1 << 10) - 1;

struct DeliveryRef {
  EventNo event;
  DeliveryNo delivery;

  friend auto operator<=>(const DeliveryRef&,
                          const DeliveryRef&) = default;  // NOLINT: no null here
};

std::string to_text(EventNo number);
std::string to_text(RejectNo number);
std::string to_text(const DeliveryRef& delivery);  // the Idempotency-Key of all its attempts

// Return nullopt unless `text` is an exact output of to_text().
std::optional<EventNo> event_from(std::string_view text);
std::optional<RejectNo> reject_from(std::string_view text);
std::optional<DeliveryRef> delivery_from(std::string_view text);

}  // namespace hapax
