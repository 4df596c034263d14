// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "sim/timeline.hpp"

namespace hapax::sim {

BootTime Timeline::between(BootTime least, BootTime most) {
  const auto span = static_cast<std::uint64_t>((most - least).count());
  return least + BootTime(static_cast<std::int64_t>(below(span + 1)));
}

void Timeline::at(BootTime when, std::function<void()> what) {
  queue_.emplace(std::pair(std::max(when, now()), ++entered_), std::move(what));
}

bool Timeline::step(BootTime until) {
  if (queue_.empty() || queue_.begin()->first.first > until) return false;
  auto next = queue_.extract(queue_.begin());
  clock_.advance(next.key().first - now());
  next.mapped()();
  return true;
}

void Timeline::note(std::string_view who, std::string_view what) {
  std::string line = std::to_string(now().count());
  line.append(" ").append(who).append(" ").append(what);
  for (const char each : line) {  // FNV-1a
    hash_ = (hash_ ^ static_cast<unsigned char>(each)) * 0x100000001b3;
  }
  if (show_) show_(line);
  lines_.push_back(std::move(line));
  if (lines_.size() > kKeptLines) lines_.pop_front();
}

void Timeline::fail(std::string_view oracle, std::string detail) {
  note("FAILED", std::string(oracle) + ": " + detail);
  if (!failure_) failure_ = Failure{std::string(oracle), std::move(detail)};
}

}  // namespace hapax::sim
