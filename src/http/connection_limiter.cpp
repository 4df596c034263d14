// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "http/connection_limiter.hpp"

namespace hapax::http {

namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;
constexpr std::string_view kMappedV4("\0\0\0\0\0\0\0\0\0\0\xff\xff", 12);

// Adds `more` unless the sum would exceed the limit.
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

std::optional<ConnectionLimiter::Permit> ConnectionLimiter::try_acquire(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  Callers::value_type& caller = *callers_.try_emplace(address).first;
  if (active() >= limits_.connections ||
      caller.second.connections >= limits_.connections_per_address) {
    if (caller.second.connections == 0) callers_.erase(address);
    rejected_.fetch_add(1, kRelaxed);
    return std::nullopt;
  }
  ++caller.second.connections;
  active_.fetch_add(1, kRelaxed);
  return Permit(*this, caller);
}

ConnectionLimiter::Permit::Permit(Permit&& other) noexcept
    : limiter_(other.limiter_), caller_(other.caller_), reserved_(other.reserved_) {
  other.limiter_ = nullptr;
}

ConnectionLimiter::Permit::~Permit() {
  if (limiter_ == nullptr) return;
  release_bytes();
  const std::lock_guard lock(limiter_->mutex_);
  limiter_->active_.fetch_sub(1, kRelaxed);
  if (--caller_->second.connections == 0) limiter_->callers_.erase(caller_->first);
}

bool ConnectionLimiter::Permit::try_reserve(std::size_t bytes) {
  if (bytes <= reserved_) return true;
  const std::size_t more = bytes - reserved_;
  if (!add_within(limiter_->bytes_, more, limiter_->limits_.bytes)) return false;
  if (!add_within(caller_->second.bytes, more, limiter_->limits_.bytes_per_address)) {
    limiter_->bytes_.fetch_sub(more, kRelaxed);
    return false;
  }
  reserved_ = bytes;
  return true;
}

void ConnectionLimiter::Permit::release_bytes() {
  if (reserved_ == 0) return;
  limiter_->bytes_.fetch_sub(reserved_, kRelaxed);
  caller_->second.bytes.fetch_sub(reserved_, kRelaxed);
  reserved_ = 0;
}

}  // namespace hapax::http
