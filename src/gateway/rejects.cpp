// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "gateway/rejects.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <utility>

namespace hapax::gateway {

std::string network_of(std::string_view address) {
  constexpr std::size_t kNetwork = 8;  // bytes
  in6_addr bytes{};
  std::string text(address);
  if (inet_pton(AF_INET6, text.c_str(), &bytes) != 1) return text;
  if (IN6_IS_ADDR_V4MAPPED(&bytes)) return text.substr(text.rfind(':') + 1);
  std::fill(std::begin(bytes.s6_addr) + kNetwork, std::end(bytes.s6_addr), std::uint8_t{0});
  std::array<char, INET6_ADDRSTRLEN> shown{};
  inet_ntop(AF_INET6, &bytes, shown.data(), shown.size());
  return std::string(shown.data()) + "/64";
}

// A single source gets at most half of the queue; there is always room for another source.
bool RejectQueue::has_room(const Allowance& allowance) const {
  return allowance.usage.rejects + usage_.rejects < kMaxRejects &&
         allowance.usage.bytes + usage_.bytes < kMaxBytes;
}

bool RejectQueue::allow(Allowance& allowance, std::string_view address, std::size_t bytes) {
  const std::size_t units = 1 + bytes / kUnitBytes;
  const double cost = std::min(static_cast<double>(units), kBurst);
  double& left = allowance.bucket.left;
  allowance.bucket.refill(clock_.since_boot(), kPerSecond, kBurst);
  if (left >= kBurst) allowance.taken.clear();
  if (left < cost) return false;
  auto taken = allowance.taken.find(address);
  if (taken == allowance.taken.end()) {
    const bool known = allowance.taken.size() < kMaxAddresses;
    taken = allowance.taken.try_emplace(known ? std::string(address) : std::string(), 0).first;
  }
  if (left < kBurst / 4 && taken->second > kBurst / 4) return false;
  left -= cost;
  taken->second += cost;
  return true;
}

bool RejectQueue::reserve(const Source& source, std::string_view address, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  Allowance& allowance = allowances_[source.no];
  if (allowance.source_name.empty()) allowance.source_name = source.name;
  if (has_room(allowance) && allow(allowance, address, bytes)) {
    ++allowance.usage.rejects;
    ++usage_.rejects;
    return true;
  }
  ++allowance.dropped;
  return false;
}

void RejectQueue::add(KeptReject reject) {
  const std::lock_guard lock(mutex_);
  const std::size_t bytes = reject.size();
  allowances_[reject.source].usage.bytes += bytes;
  usage_.bytes += bytes;
  rejects_.push_back(std::move(reject));
}

RejectQueue::Batch RejectQueue::take(std::size_t most, std::size_t most_bytes) {
  const std::lock_guard lock(mutex_);
  Batch batch;
  std::size_t bytes = 0;
  while (!rejects_.empty() && batch.rejects.size() < most && bytes < most_bytes) {
    const KeptReject& first = rejects_.front();
    const std::size_t size = first.size();
    Usage& of_source = allowances_[first.source].usage;
    for (Usage* each : {&of_source, &usage_}) {
      --each->rejects;
      each->bytes -= size;
    }
    bytes += size;
    batch.rejects.push_back(std::move(rejects_.front()));
    rejects_.pop_front();
  }
  for (auto& [source, each] : allowances_) {
    if (each.dropped == 0) continue;
    batch.dropped[source] = {each.source_name, std::exchange(each.dropped, 0)};
  }
  batch.more = !rejects_.empty();
  return batch;
}

}  // namespace hapax::gateway
