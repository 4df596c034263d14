// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include <hapax/verify.hpp>

#include <array>
#include <cstddef>

namespace hapax {

namespace {

struct ReasonInfo {
  Reason reason;
  std::string_view name;
  int http_status;
};

constexpr std::size_t kReasonCount = static_cast<std::size_t>(Reason::body_too_large) + 1;

constexpr std::array<ReasonInfo, kReasonCount> kReasons{{
    {Reason::none, "", 200},
    {Reason::signature_missing, "signature-missing", 401},
    {Reason::signature_invalid, "signature-invalid", 401},
    {Reason::timestamp_outside_window, "timestamp-outside-window", 401},
    {Reason::header_malformed, "header-malformed", 400},
    {Reason::payload_unreadable, "payload-unreadable", 400},
    {Reason::id_missing, "id-missing", 400},
    {Reason::id_ambiguous, "id-ambiguous", 400},
    {Reason::body_too_large, "body-too-large", 413},
}};

constexpr bool reasons_are_in_order() {
  for (std::size_t i = 0; i < kReasons.size(); ++i) {
    if (static_cast<std::size_t>(kReasons[i].reason) != i) return false;
  }
  return true;
}
static_assert(reasons_are_in_order(), "every Reason has its row, in the order of the enum");

const ReasonInfo& info(Reason reason) noexcept {
  return kReasons[static_cast<std::size_t>(reason)];
}

}  // namespace

std::string_view name(Reason reason) noexcept {
  return info(reason).name;
}

int http_status(Reason reason) noexcept {
  return info(reason).http_status;
}

}  // namespace hapax
