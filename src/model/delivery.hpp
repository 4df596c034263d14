// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "model/numbers.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

// Properties of a delivery: state, reason for its end, lease holder, attempts.
namespace hapax {

enum class DeliveryState : std::uint8_t {
  pending,     // to be leased, now or later; also if its lease has expired
  leased,      // an attempt may be running
  completed,   // acknowledged
  dead,        // dead letter; can be replayed
  superseded,  // not delivered: a newer delivery of its lane was completed before
  cancelled,   // dropped by its handler or cancelled by an operator
};

// Why a delivery is dead or cancelled.
enum class EndReason : std::uint8_t {
  none,
  exhausted,  // dead: the last attempt of the schedule failed
  gone,       // dead: the receiver responded 410 Gone
  abandoned,  // dead: its workers let the lease expire too often
  horizon,    // dead: the receiver may have forgotten its idempotency key
  dropped,    // cancelled by its handler
  cancelled,  // cancelled by an operator
};

// In observe mode: how an arrival would have been handled with `enforce = true`.
enum class Would : std::uint8_t { none, reject, duplicate };

std::string_view name(DeliveryState state) noexcept;  // "pending"
std::optional<DeliveryState> delivery_state(std::string_view name) noexcept;
std::string_view name(EndReason reason) noexcept;  // "exhausted"; "" for none
std::string_view name(Would would) noexcept;       // "reject"; "" for none

// An event has the worst state of its deliveries; without deliveries, completed.
// dead > leased > pending > cancelled > superseded > completed.
DeliveryState worse(DeliveryState a, DeliveryState b) noexcept;

// When a delivery becomes dead, its lane continues with the next one, or blocks until an operator
// acts.
enum class OnDead : std::uint8_t { skip, block };

// The holder of a lease.
struct Holder {
  enum class Kind : std::uint8_t {
    push,     // a server; an expired lease means that it crashed, and is not counted
    pull,     // a worker of the pull API; an expired lease counts as an abandon
    library,  // a worker in the database (hapax.lease); counted like pull
  };
  Kind kind = Kind::push;
  std::int64_t owner = 0;  // the node, or another id that is unique within the kind

  friend bool operator==(const Holder&, const Holder&) = default;
};

// How a lease ends or continues.
struct Ack {};
struct RetryIn {
  std::chrono::milliseconds delay{};
  bool sent = true;  // false: certainly no byte was sent
};
struct Drop {};
struct Dead {
  EndReason reason = EndReason::exhausted;  // exhausted, gone or horizon
  OnDead on_dead = OnDead::skip;
};
struct Renew {
  std::chrono::milliseconds lease{};  // from now
};
struct Release {     // not the handler's fault
  bool sent = true;  // false: certainly no byte was sent
};
using Disposition = std::variant<Ack, RetryIn, Drop, Dead, Renew, Release>;

// The outcome of an attempt, one for each disposition that ends a lease.
enum class AttemptOutcome : std::uint8_t { completed, retried, dropped, dead, released };
std::string_view name(AttemptOutcome outcome) noexcept;

// Details of an attempt. Texts are for display; stores do not interpret them.
struct AttemptNote {
  WallTime when{};  // the start, by the node's own clock
  std::chrono::milliseconds took{};
  int status = 0;            // HTTP status; 0 without a response
  std::string_view error;    // failure class, like "timeout"; at most kMaxAttemptError
  std::string_view excerpt;  // the first bytes of the response; at most kMaxExcerpt
};

// A recorded attempt.
struct Attempt {
  DeliveryNo delivery;
  Fence fence;
  AttemptOutcome outcome = AttemptOutcome::completed;
  WallTime settled{};  // store time
  WallTime when{};
  std::chrono::milliseconds took{};
  int status = 0;
  std::string error;
  std::string excerpt;
};

}  // namespace hapax
