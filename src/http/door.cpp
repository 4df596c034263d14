// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "http/door.hpp"

namespace hapax::http {

namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;
constexpr std::string_view kMappedV4("\0\0\0\0\0\0\0\0\0\0\xff\xff", 12);

// Adds where that stays within the limit.
bool add_within(std::atomic<std::size_t>& sum, std::size_t more, std::size_t limit) {
  if (sum.fetch_add(more, kRelaxed) + more <= limit) return true;
  sum.fetch_sub(more, kRelaxed);
  return false;
}

}  // namespace

std::uint64_t key_of_address(std::string_view bytes) {
  constexpr std::uint64_t kV4 = 0xffff;
  const bool mapped = bytes.size() == 16 && bytes.substr(0, kMappedV4.size()) == kMappedV4;
  if (mapped) bytes.remove_prefix(kMappedV4.size());
  std::uint64_t key = bytes.size() == 4 ? kV4 : 0;
  for (const char each : bytes.substr(0, 8)) key = key << 8 | static_cast<unsigned char>(each);
  return key;
}

std::optional<Door::Visit> Door::enter(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  Callers::value_type& caller = *callers_.try_emplace(address).first;
  if (inside() >= limits_.connections ||
      caller.second.connections >= limits_.connections_per_address) {
    if (caller.second.connections == 0) callers_.erase(address);
    turned_away_.fetch_add(1, kRelaxed);
    return std::nullopt;
  }
  ++caller.second.connections;
  inside_.fetch_add(1, kRelaxed);
  return Visit(*this, caller);
}

Door::Visit::Visit(Visit&& other) noexcept
    : door_(other.door_), caller_(other.caller_), held_(other.held_) {
  other.door_ = nullptr;
}

Door::Visit::~Visit() {
  if (door_ == nullptr) return;
  hold_nothing();
  const std::lock_guard lock(door_->mutex_);
  door_->inside_.fetch_sub(1, kRelaxed);
  if (--caller_->second.connections == 0) door_->callers_.erase(caller_->first);
}

bool Door::Visit::hold(std::size_t bytes) {
  if (bytes <= held_) return true;
  const std::size_t more = bytes - held_;
  if (!add_within(door_->bytes_, more, door_->limits_.bytes)) return false;
  if (!add_within(caller_->second.bytes, more, door_->limits_.bytes_per_address)) {
    door_->bytes_.fetch_sub(more, kRelaxed);
    return false;
  }
  held_ = bytes;
  return true;
}

void Door::Visit::hold_nothing() {
  if (held_ == 0) return;
  door_->bytes_.fetch_sub(held_, kRelaxed);
  caller_->second.bytes.fetch_sub(held_, kRelaxed);
  held_ = 0;
}

}  // namespace hapax::http
