// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "deliver/lease_room.hpp"

#include <algorithm>
#include <utility>

namespace hapax::deliver {

std::size_t LeaseRoom::taken() const {
  const std::lock_guard lock(mutex_);
  return taken_;
}

// Half of the memory that other destinations do not use, minus what this one holds.
std::size_t LeaseRoom::free_for(DestinationNo destination) const {
  const auto found = by_destination_.find(destination);
  const std::size_t has = found == by_destination_.end() ? 0 : found->second;
  const std::size_t others = std::min(taken_ - has, most_);
  const std::size_t part = (most_ - others) / 2;
  return part - std::min(part, has);
}

bool LeaseRoom::may_have_spare(const Permit& permit) const {
  constexpr std::size_t kParts = 16;
  const std::size_t least = permit.request_.least;
  return !by_destination_.contains(permit.request_.destination) && least <= spare_ / kParts &&
         taken_ + least <= most_ + spare_;
}

bool LeaseRoom::grant(Permit& to) {
  std::size_t bytes = std::min(to.request_.most, free_for(to.request_.destination));
  if (bytes < to.request_.least && !may_have_spare(to)) return false;
  bytes = std::max(bytes, to.request_.least);
  change(to, bytes);
  return true;
}

void LeaseRoom::change(Permit& of, std::size_t bytes) {
  taken_ = taken_ - of.bytes_ + bytes;
  std::size_t& has = by_destination_[of.request_.destination];
  has = has - of.bytes_ + bytes;
  if (has == 0) by_destination_.erase(of.request_.destination);
  of.bytes_ = bytes;
}

void LeaseRoom::grant_next() {
  std::erase_if(waiting_, [&](Permit* each) {
    if (!grant(*each)) return false;
    each->granted_();
    return true;
  });
}

LeaseRoom::Permit::Permit(LeaseRoom& room, const Request& request, std::function<void()> granted)
    : room_(room), request_(request), granted_(std::move(granted)) {
  const std::lock_guard lock(room_.mutex_);
  if (!room_.grant(*this)) room_.waiting_.push_back(this);
}

LeaseRoom::Permit::~Permit() {
  const std::lock_guard lock(room_.mutex_);
  if (bytes_ == 0) room_.waiting_.remove(this);
  room_.change(*this, 0);
  room_.grant_next();
}

std::size_t LeaseRoom::Permit::bytes() const {
  const std::lock_guard lock(room_.mutex_);
  return bytes_;
}

void LeaseRoom::Permit::resize(std::size_t bytes) {
  const std::lock_guard lock(room_.mutex_);
  room_.change(*this, bytes);
  room_.grant_next();
}

}  // namespace hapax::deliver
