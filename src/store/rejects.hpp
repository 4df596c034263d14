// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "model/numbers.hpp"
#include "store/limits.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hapax::store {

// ---------------------------------------------------------------------------------------------
// Rejects: one ring per source.

inline constexpr std::size_t kMaxRejects = 10'000;
inline constexpr std::size_t kMaxRejectBytes = std::size_t{64} * 1024 * 1024;

// Capacity per source. Excess is evicted: first from addresses above a quarter of the limit
// (largest first, oldest first, down to that quarter), then oldest first. The count limit is
// applied before the byte limit.
struct RejectRing {
  std::size_t rejects = kMaxRejects;
  std::size_t bytes = kMaxRejectBytes;  // sum of size_of()
};

struct Reject {
  RejectNo no;  // generated before the call; an existing one is not changed
  SourceNo source;
  std::string_view tenant = {};
  std::string_view reason = {};  // "signature-invalid"
  std::string_view detail = {};
  WallTime received{};  // by the receiver's clock; a later verification uses it
  std::string_view method = {};
  std::string_view url = {};
  std::string_view headers = {};  // encode_headers(), secrets redacted
  std::string_view proof = {};    // an HMAC in place of redacted secrets, for comparison
  std::string_view body = {};
  std::string_view address = {};  // of the sender
};

// The size that counts against RejectRing::bytes.
std::size_t size_of(const Reject& reject);

// Rejects of one source that were not stored because too many arrived at once.
struct DroppedRejects {
  SourceNo source;
  std::uint64_t count = 0;
};

struct RejectBatch {
  std::span<const Reject> rejects = {};
  std::span<const DroppedRejects> dropped = {};
  RejectRing ring = {};
};

struct RejectRow {
  RejectNo no;
  SourceNo source;
  std::string tenant;
  std::string reason;
  std::string detail;
  WallTime received{};
  std::size_t body_size = 0;
  std::string address;
};

struct StoredReject {
  RejectRow row;
  std::string method;
  std::string url;
  std::string headers;
  std::string proof;
  std::string body;
};

// All fields that are set must match.
struct RejectFilter {
  std::optional<SourceNo> source = {};
  std::string_view reason = {};        // empty: any
  std::optional<WallTime> since = {};  // received at or after
  std::optional<WallTime> until = {};  // received before
};

inline constexpr RejectNo kNewestReject{std::numeric_limits<std::int64_t>::max()};

struct RejectQuery {
  RejectFilter filter = {};
  RejectNo after{};                 // only larger numbers
  RejectNo before = kNewestReject;  // only smaller ones
  bool oldest_first = false;        // otherwise newest first, by descending number
  std::size_t limit = 100;          // 1 to kMaxPage
};

struct RejectPage {
  std::vector<RejectRow> rejects;
  std::optional<RejectNo> next;  // `before` (or `after`) of the next page; nullopt: the last page
};

// The counts of a source that has or had rejects.
struct RejectCounts {
  SourceNo source;
  std::uint64_t kept = 0;  // now
  std::uint64_t bytes = 0;
  std::uint64_t evicted = 0;  // total, to make room
  std::uint64_t dropped = 0;  // total, as reported
};

// ---------------------------------------------------------------------------------------------
// The contract. The capability `inbox`. Thread-safe; the calls block and never throw. An error has
// one of the three outcomes. Each call is atomic by itself and, unless noted otherwise, may be
// repeated after an unknown outcome.
class Rejects {
 public:
  virtual ~Rejects() = default;

  // Stores the rejects, counts the dropped ones, and returns how many others were evicted. The
  // counts are for display: if the call is repeated after an unknown outcome, they may be too
  // large.
  virtual Result<std::size_t> add_rejects(const RejectBatch& batch) = 0;
  virtual Result<RejectPage> rejects(const RejectQuery& query) = 0;
  virtual Result<std::vector<RejectCounts>> reject_counts() = 0;  // by source
  virtual Result<std::optional<StoredReject>> reject(RejectNo number) = 0;
  virtual Result<bool> remove_reject(RejectNo number) = 0;  // false: no such reject
  virtual Result<void> remove_rejects(std::span<const RejectNo> numbers) = 0;
};

// invalid_argument: exceeds a limit; names the first one.
Result<void> check(const Reject& reject);
Result<void> check(const RejectQuery& query);

}  // namespace hapax::store
