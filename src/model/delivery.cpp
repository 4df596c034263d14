// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "model/delivery.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace hapax {

namespace {

constexpr std::array<std::string_view, 6> kStates{"pending", "leased",     "completed",
                                                  "dead",    "superseded", "cancelled"};
constexpr std::array<int, 6> kBadness{3, 4, 0, 5, 1, 2};  // in the order of DeliveryState
constexpr std::array<std::string_view, 7> kEndReasons{
    "", "exhausted", "gone", "abandoned", "horizon", "dropped", "cancelled"};
constexpr std::array<std::string_view, 3> kWoulds{"", "reject", "duplicate"};
constexpr std::array<std::string_view, 5> kOutcomes{"completed", "retried", "dropped", "dead",
                                                    "released"};

}  // namespace

std::string_view name(DeliveryState state) noexcept {
  return kStates[static_cast<std::size_t>(state)];
}

std::optional<DeliveryState> delivery_state(std::string_view name) noexcept {
  const auto found = std::find(kStates.begin(), kStates.end(), name);
  if (found == kStates.end()) return std::nullopt;
  return static_cast<DeliveryState>(found - kStates.begin());
}

std::string_view name(EndReason reason) noexcept {
  return kEndReasons[static_cast<std::size_t>(reason)];
}

std::string_view name(Would would) noexcept {
  return kWoulds[static_cast<std::size_t>(would)];
}

std::string_view name(AttemptOutcome outcome) noexcept {
  return kOutcomes[static_cast<std::size_t>(outcome)];
}

DeliveryState worse(DeliveryState a, DeliveryState b) noexcept {
  const auto badness = [](DeliveryState state) {
    return kBadness[static_cast<std::size_t>(state)];
  };
  return badness(a) >= badness(b) ? a : b;
}

}  // namespace hapax
