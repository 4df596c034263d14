// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/reject_ring.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

namespace hapax::store {

namespace {

using Measure = std::size_t (*)(const RetainedReject&);

struct Share {
  std::string_view address;
  std::size_t size = 0;
};

Share largest(const std::vector<RetainedReject>& held, Measure measure) {
  std::map<std::string_view, std::size_t> sizes;
  for (const RetainedReject& each : held) sizes[each.address] += measure(each);
  Share most;
  for (const auto& [address, size] : sizes) {
    if (size > most.size) most = {address, size};
  }
  return most;
}

// Removes the oldest rejects, of one address or of all, until their sum reaches `need`.
void remove(std::vector<RetainedReject>& held, const std::optional<std::string>& address,
            std::size_t need, Measure measure, std::vector<RejectNo>& gone) {
  std::size_t sum = 0;
  const auto goes = [&](const RetainedReject& each) {
    if (sum >= need || (address && each.address != *address)) return false;
    sum += measure(each);
    gone.push_back(each.no);
    return true;
  };
  held.erase(std::remove_if(held.begin(), held.end(), goes), held.end());
}

void fit(std::vector<RetainedReject>& held, std::size_t limit, Measure measure,
         std::vector<RejectNo>& gone) {
  for (;;) {
    std::size_t total = 0;
    for (const RetainedReject& each : held) total += measure(each);
    if (total <= limit) return;
    const Share share = largest(held, measure);
    const std::size_t quarter = limit / 4;
    if (share.size > quarter) {
      const std::size_t need = std::min(total - limit, share.size - quarter);
      remove(held, std::string(share.address), need, measure, gone);
    } else {
      remove(held, std::nullopt, total - limit, measure, gone);
    }
  }
}

}  // namespace

std::vector<RejectNo> choose_evicted(std::vector<RetainedReject> held, const RejectRing& ring) {
  std::vector<RejectNo> gone;
  fit(
      held, ring.rejects, [](const RetainedReject&) { return std::size_t{1}; }, gone);
  fit(
      held, ring.bytes, [](const RetainedReject& each) { return each.size; }, gone);
  return gone;
}

std::size_t size_of(const Reject& reject) {
  return reject.tenant.size() + reject.reason.size() + reject.detail.size() + reject.method.size() +
         reject.url.size() + reject.headers.size() + reject.proof.size() + reject.body.size() +
         reject.address.size();
}

}  // namespace hapax::store
