// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>
#include <hapax/error.hpp>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace hapax {

// Limits of every store. Scopes and ids may contain any bytes, NUL and invalid UTF-8 included, and
// are compared byte for byte. Empty or longer values are rejected before anything is written.
inline constexpr std::size_t kMaxScope = 256;
inline constexpr std::size_t kMaxId = 1024;
inline constexpr std::size_t kMaxBatch = 100'000;  // requests in one call
inline constexpr std::chrono::milliseconds kMaxTtl = 36500 * days;
inline constexpr std::chrono::milliseconds kDefaultTtl = 30 * days;

// Identifies the caller of a request. Sixteen random bytes, never a process id or host name,
// because those repeat.
struct Token {
  std::array<unsigned char, 16> bytes{};

  bool empty() const { return *this == Token{}; }
  friend bool operator==(const Token&, const Token&) = default;
};

// A new token, for a request that may have to be repeated.
HAPAX_API Token make_token();

struct DedupRequest {
  std::string_view scope;                       // 1 to kMaxScope bytes: scopes are independent
  std::string_view id;                          // 1 to kMaxId bytes
  std::chrono::milliseconds ttl = kDefaultTtl;  // how long the id is remembered after its claim
  // If empty, the request cannot be repeated. To repeat a request after an unknown outcome, pass
  // make_token() and then the same token again: the repeated request returns the answer that the
  // first one should have returned. Never share a token between two requests.
  Token token = {};
};

// Checks the limits above. invalid_argument names the limit that was exceeded.
HAPAX_API Result<void> check(const DedupRequest& request);

struct Dedup {
  bool duplicate =
      false;  // false: the id was free and is now claimed; true: it was already claimed
};

// The only method a custom store must implement. hapax::compliance tests it.
class HAPAX_API DedupStore {
 public:
  virtual ~DedupStore() = default;

  // Claims every free id and reports for each whether it was a duplicate. Answers are in request
  // order; an id repeated in one call belongs to its first occurrence. When this returns a value,
  // the claims are durable. Of any number of concurrent callers of one id, exactly one gets
  // `duplicate == false`. A claim expires after ttl: at `now >= claimed + ttl` the id is free
  // again. A duplicate does not extend it. A request with the claim's own token is not a duplicate;
  // an empty token matches no claim.
  //
  // Errors concern the whole call. did_not_happen: nothing was claimed. unknown: some or all may
  // have been claimed; repeat the call with the same tokens to find out.
  virtual Result<std::vector<Dedup>> dedup(std::span<const DedupRequest> requests) = 0;
};

enum class Capability : std::uint8_t { dedup, keys, inbox, outbox };

HAPAX_API std::string_view name(Capability capability) noexcept;

class Capabilities {
 public:
  Capabilities() = default;
  Capabilities(std::initializer_list<Capability> list) {
    for (Capability each : list) bits_ |= bit(each);
  }
  bool has(Capability capability) const { return (bits_ & bit(capability)) != 0; }

 private:
  static unsigned bit(Capability capability) { return 1U << static_cast<unsigned>(capability); }
  unsigned bits_ = 0;
};

struct OpenOptions {
  bool migrate = true;  // create or upgrade the schema; false: a missing schema is an error
  Capabilities needs = {Capability::dedup};  // open fails if the store lacks one
  std::chrono::milliseconds busy_timeout =
      std::chrono::seconds(5);                                  // sqlite: wait for another writer
  std::chrono::milliseconds timeout = std::chrono::seconds(5);  // postgres: for each response
  std::size_t connections = 4;             // postgres: at most; further callers share a transaction
  std::size_t memory_max_ids = 1'000'000;  // memory: only; full is an error, no live id is evicted

  // Clock and randomness, for tests. They must outlive the store. null: the system's.
  Clock* clock = nullptr;
  Random* random = nullptr;
};

// Progress of purge().
struct Purged {
  std::size_t removed = 0;
  bool done = false;  // the whole store has been scanned since `done` was last true
};

// A store, opened from a URL. All members are thread-safe and block; none throws. Concurrent
// callers share one transaction and one fsync. Movable; no call may be running when it is
// destroyed.
class HAPAX_API Store final : public DedupStore {
 public:
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store() override;

  Capabilities capabilities() const;

  Result<Dedup> dedup(const DedupRequest& request);
  Result<std::vector<Dedup>> dedup(std::span<const DedupRequest> requests) override;

  // Removes up to `limit` expired ids (at most 100,000) in one short transaction. It may scan only
  // part of the store and resumes there at the next call, until `done`. It is never needed for
  // correctness.
  Result<Purged> purge(std::size_t limit = 500);

 private:
  friend Result<Store> open(std::string_view url, const OpenOptions& options);
  struct HAPAX_HIDDEN Parts;
  explicit Store(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

// Opens "sqlite:PATH", "postgres://USER@HOST/DATABASE" (anything libpq accepts, including several
// hosts with target_session_attrs) or "memory:". On success the schema exists and the store is
// writable. If the server becomes unavailable later, the store retries with backoff within
// `timeout`. Errors name the cause and the remedy: misconfigured (URL, directory), store_read_only,
// store_corrupt, store_newer, store_busy, store_unavailable.
HAPAX_API Result<Store> open(std::string_view url, const OpenOptions& options = {});

// Creates or upgrades the schema behind `url` and returns its version. Safe to run concurrently
// from several processes.
HAPAX_API Result<int> migrate(std::string_view url, const OpenOptions& options = {});

}  // namespace hapax
