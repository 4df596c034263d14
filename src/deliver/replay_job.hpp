// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/queue.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace hapax::deliver {

inline constexpr unsigned kDefaultReplayRate = 100;  // events per second
inline constexpr unsigned kMaxReplayRate = 100'000;

// A bulk replay as stored: the request and its progress.
struct ReplayJob {
  enum class State : std::uint8_t { running, done, cancelled };

  // Which events: see store::EventFilter.
  std::optional<SourceNo> source = {};
  std::optional<std::string> tenant = {};
  std::optional<std::string> id = {};
  std::optional<std::string> type = {};
  std::optional<std::string> order_key = {};
  std::optional<DeliveryState> status = {};
  std::optional<WallTime> since = {};
  std::optional<WallTime> until = {};
  store::HowToReplay how = {};  // its number identifies the job
  unsigned rate = kDefaultReplayRate;
  // RequestKey::request of the request that started it; empty: it had no key, or an older version
  // of hapax has rewritten the record.
  std::string request = {};

  EventNo last = {};             // the newest event at the start; later ones are not replayed
  EventNo after = {};            // the last event processed
  std::uint64_t matched = 0;     // events, at the start
  std::uint64_t events = 0;      // processed
  std::uint64_t deliveries = 0;  // replayed
  State state = State::running;
  WallTime started{};
  std::optional<WallTime> ended = {};
  // The process that works on it, and the end of its ownership. This only avoids duplicate work: a
  // repeated step changes nothing.
  std::string owner = {};
  WallTime owned_until{};
};

store::EventFilter filter_of(const ReplayJob& job);  // views into it
std::string_view name(ReplayJob::State state) noexcept;

// The public id of a replay: "p00c4...".
std::string replay_text(ReplayNo number);
std::optional<ReplayNo> replay_from(std::string_view text);

// The content of a record. nullopt: it was not written by to_record_text().
std::string to_record_text(const ReplayJob& job);
std::optional<ReplayJob> job_from(std::string_view text);

}  // namespace hapax::deliver
