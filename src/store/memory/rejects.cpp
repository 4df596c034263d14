// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/memory/rejects.hpp"

#include "store/reject_ring.hpp"

namespace hapax::store::memory {

namespace {

StoredReject stored(const Reject& reject) {
  return {.row = {.no = reject.no,
                  .source = reject.source,
                  .tenant = std::string(reject.tenant),
                  .reason = std::string(reject.reason),
                  .detail = std::string(reject.detail),
                  .received = reject.received,
                  .body_size = reject.body.size(),
                  .address = std::string(reject.address)},
          .method = std::string(reject.method),
          .url = std::string(reject.url),
          .headers = std::string(reject.headers),
          .proof = std::string(reject.proof),
          .body = std::string(reject.body)};
}

std::size_t size_of(const StoredReject& reject) {
  const RejectRow& row = reject.row;
  return store::size_of(Reject{.no = row.no,
                               .source = row.source,
                               .tenant = row.tenant,
                               .reason = row.reason,
                               .detail = row.detail,
                               .method = reject.method,
                               .url = reject.url,
                               .headers = reject.headers,
                               .proof = reject.proof,
                               .body = reject.body,
                               .address = row.address});
}

RejectCounts& counts_of(Tables& tables, SourceNo source) {
  RejectCounts& counts = tables.reject_counts[source];
  counts.source = source;
  return counts;
}

std::size_t trim(Tables& tables, SourceNo source, const RejectRing& ring) {
  std::vector<RetainedReject> held;
  for (const auto& [no, each] : tables.rejects) {
    if (each.row.source == source) held.push_back({no, each.row.address, size_of(each)});
  }
  const std::vector<RejectNo> gone = choose_evicted(std::move(held), ring);
  for (const RejectNo each : gone) tables.rejects.erase(each);
  if (!gone.empty()) counts_of(tables, source).evicted += gone.size();
  return gone.size();
}

bool matches(const RejectFilter& filter, const RejectRow& row) {
  return (!filter.source || row.source == *filter.source) &&
         (filter.reason.empty() || row.reason == filter.reason) &&
         (!filter.since || row.received >= *filter.since) &&
         (!filter.until || row.received < *filter.until);
}

}  // namespace

std::size_t add_rejects(Tables& tables, const RejectBatch& batch) {
  std::set<SourceNo> sources;
  for (const Reject& each : batch.rejects) {
    if (tables.rejects.emplace(each.no, stored(each)).second) sources.insert(each.source);
  }
  for (const DroppedRejects& each : batch.dropped) {
    counts_of(tables, each.source).dropped += each.count;
  }
  std::size_t evicted = 0;
  for (const SourceNo each : sources) evicted += trim(tables, each, batch.ring);
  return evicted;
}

RejectPage rejects(const Tables& tables, const RejectQuery& query) {
  std::vector<const RejectRow*> rows;
  for (const auto& [no, each] : tables.rejects) {
    const bool between = no > query.after && no < query.before;
    if (between && matches(query.filter, each.row)) rows.push_back(&each.row);
  }
  if (!query.oldest_first) std::reverse(rows.begin(), rows.end());
  RejectPage page;
  for (const RejectRow* each : rows) {
    if (page.rejects.size() == query.limit) {
      page.next = page.rejects.back().no;
      break;
    }
    page.rejects.push_back(*each);
  }
  return page;
}

std::vector<RejectCounts> reject_counts(const Tables& tables) {
  std::map<SourceNo, RejectCounts> counts = tables.reject_counts;
  for (const auto& [no, each] : tables.rejects) {
    RejectCounts& of = counts[each.row.source];
    of.source = each.row.source;
    ++of.kept;
    of.bytes += size_of(each);
  }
  std::vector<RejectCounts> all;
  all.reserve(counts.size());
  for (const auto& [source, each] : counts) all.push_back(each);
  return all;
}

}  // namespace hapax::store::memory
