// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/try.hpp"
#include "store/postgres/contracts.hpp"
#include "store/postgres/statements.hpp"

#include <algorithm>
#include <charconv>

namespace hapax::store::postgres {

namespace {

// Sorted by key: hapax._claim must lock keys in order. The sort is stable, so that of two items
// with the same key the first gets it.
std::vector<const DedupItem*> in_lock_order(std::span<const DedupItem> items) {
  std::vector<const DedupItem*> sorted;
  sorted.reserve(items.size());
  for (const DedupItem& each : items) sorted.push_back(&each);
  const auto less = [](const DedupItem* a, const DedupItem* b) { return a->key < b->key; };
  if (!std::is_sorted(sorted.begin(), sorted.end(), less)) {
    std::stable_sort(sorted.begin(), sorted.end(), less);
  }
  return sorted;
}

Parameters claim_parameters(std::span<const DedupItem* const> requests) {
  std::vector<std::string_view> keys;
  std::vector<std::string_view> tokens;
  std::vector<std::int64_t> ttls_ms;
  keys.reserve(requests.size());
  tokens.reserve(requests.size());
  ttls_ms.reserve(requests.size());
  for (const DedupItem* each : requests) {
    keys.push_back(each->key);
    tokens.push_back(view(each->token));
    ttls_ms.push_back(each->ttl.count());
  }
  Parameters parameters;
  parameters.add_bytes_array(keys);
  parameters.add_bytes_array(tokens);
  parameters.add_number_array(ttls_ms);
  return parameters;
}

}  // namespace

Result<std::vector<Dedup>> PostgresClaims::dedup(std::span<const DedupItem> items) {
  std::vector<Dedup> answers(items.size());
  if (items.empty()) return answers;
  const std::vector<const DedupItem*> requests = in_lock_order(items);
  Parameters parameters = claim_parameters(requests);
  parameters.add_time(runner_.moment());
  parameters.add_number(runner_.patience_ms());
  HAPAX_TRY_ASSIGN(answer, runner_.run(kClaim, parameters, "claim ids"));
  const std::string_view digits = answer.rows() == 1 ? answer.field(0, 0) : "";
  if (digits.size() != requests.size()) {
    return Error(Code::store_corrupt, "hapax._claim gave " + std::to_string(digits.size()) +
                                          " answers to " + std::to_string(requests.size()) +
                                          " requests; the schema hapax is damaged");
  }
  for (std::size_t i = 0; i < requests.size(); ++i) {
    answers[static_cast<std::size_t>(requests[i] - items.data())].duplicate = digits[i] != '1';
  }
  return answers;
}

Result<Purged> PostgresClaims::purge(std::size_t limit) {
  Parameters parameters;
  parameters.add_number(static_cast<std::int64_t>(limit));
  parameters.add_time(runner_.moment());
  parameters.add_number(runner_.patience_ms());
  HAPAX_TRY_ASSIGN(answer, runner_.run(kPurge, parameters, "remove expired ids"));
  Purged purged;
  const std::string_view text = answer.field(0, 0);
  std::from_chars(text.data(), text.data() + text.size(), purged.removed);
  purged.done = answer.field(0, 1) == "t";
  return purged;
}

}  // namespace hapax::store::postgres
