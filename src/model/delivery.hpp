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

// What can be said about a delivery: its state, why it ended, who holds it, and how an attempt
// went.
namespace hapax {

enum class DeliveryState : std::uint8_t {
  pending,     // to be leased, now or later; also when its lease is past its time
  leased,      // an attempt may be running
  completed,   // acknowledged
  dead,        // dead letter; can be replayed
  superseded,  // not delivered: something newer of its lane was completed before
  cancelled,   // dropped by its handler or cancelled by a person
};

// Why a delivery is dead or cancelled.
enum class EndReason : std::uint8_t {
  none,
  exhausted,  // dead: its last attempt failed and the schedule has no other
  gone,       // dead: the receiver said that it is gone for good (410)
  abandoned,  // dead: its workers let the lease lapse too often
  horizon,    // dead: the receiver may have forgotten its key by now
  dropped,    // cancelled: by its handler
  cancelled,  // cancelled: by a person
};

// What an arrival of a source in observe mode would have been.
enum class Would : std::uint8_t { none, reject, duplicate };

std::string_view name(DeliveryState state) noexcept;  // "pending"
std::optional<DeliveryState> delivery_state(std::string_view name) noexcept;
std::string_view name(EndReason reason) noexcept;  // "exhausted"; "" for none
std::string_view name(Would would) noexcept;       // "reject"; "" for none

// The status of an event is that of the worst of its deliveries; of one without any: completed.
// dead > leased > pending > cancelled > superseded > completed.
DeliveryState worse(DeliveryState a, DeliveryState b) noexcept;

// What happens in its lane when a delivery dies: the next one goes, or the lane waits for a person.
enum class OnDead : std::uint8_t { skip, block };

// The holder of a lease.
struct Holder {
  enum class Kind : std::uint8_t {
    push,     // a server, for itself; a lapsed lease means that it died, and counts nothing
    pull,     // a worker, through the pull API; a lapsed lease is counted as abandoned
    library,  // a worker in the database (hapax.lease); counted as pull is
  };
  Kind kind = Kind::push;
  std::int64_t owner = 0;  // the node, or what else the kind tells its holders apart by

  friend bool operator==(const Holder&, const Holder&) = default;
};

// How a lease ends, or goes on.
struct Ack {};
struct RetryIn {
  std::chrono::milliseconds delay{};
  bool sent = true;  // false: it is certain that not one byte went out
};
struct Drop {};
struct Dead {
  EndReason reason = EndReason::exhausted;  // exhausted, gone or horizon
  OnDead on_dead = OnDead::skip;
};
struct Renew {
  std::chrono::milliseconds lease{};  // from now on
};
struct Release {     // released; it was not the handler's fault
  bool sent = true;  // false: it is certain that not one byte went out
};
using Disposition = std::variant<Ack, RetryIn, Drop, Dead, Renew, Release>;

// What became of an attempt, one for each disposition that ends a lease.
enum class AttemptOutcome : std::uint8_t { completed, retried, dropped, dead, released };
std::string_view name(AttemptOutcome outcome) noexcept;

// Details of an attempt. Texts are for display; stores do not interpret them.
struct AttemptNote {
  WallTime when{};  // the start, by the clock of the one who tried
  std::chrono::milliseconds took{};
  int status = 0;            // of HTTP; 0 when there was none
  std::string_view error;    // the class of failure: "timeout"; kMaxAttemptError at most
  std::string_view excerpt;  // the first bytes of the answer; kMaxExcerpt at most
};

// An attempt as it is recorded.
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
