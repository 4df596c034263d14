// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Stores: claim an id once, durably, among any number of callers.

#include <hapax/env.hpp>
#include <hapax/error.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace hapax {

/// Maximum length of a scope, in bytes. Scopes and ids may contain any bytes, NUL and invalid UTF-8
/// included, and are compared byte for byte. Empty or longer values are rejected before anything is
/// written.
inline constexpr std::size_t kMaxScope = 256;
/// Maximum length of an id, in bytes.
inline constexpr std::size_t kMaxId = 1024;
/// Maximum number of requests in one call of Store::dedup.
inline constexpr std::size_t kMaxBatch = 100'000;
/// Maximum time for which an id is remembered. The minimum is 1 ms.
inline constexpr std::chrono::milliseconds kMaxTtl = 36500 * days;
/// How long an id is remembered if the request does not say.
inline constexpr std::chrono::milliseconds kDefaultTtl = 30 * days;

/// Identifies one request, so that it can be repeated. Random bytes, never a process id or host
/// name: those repeat.
struct Token {
  std::array<unsigned char, 16> bytes{};  ///< all zero: no token

  /// Whether there is no token.
  bool empty() const { return *this == Token{}; }
  /// Whether both are the same token, or both are empty.
  friend bool operator==(const Token&, const Token&) = default;
};

/// A new token from the system's randomness, for a request that may have to be repeated.
HAPAX_API Token make_token();

/// One id to claim. The views must be valid until the call returns.
struct DedupRequest {
  std::string_view scope;  ///< 1 to kMaxScope bytes; the same id in another scope is another id
  std::string_view id;     ///< 1 to kMaxId bytes
  /// How long the id is remembered after its claim: 1 ms to kMaxTtl. Neither a duplicate nor a
  /// repeat with the same token extends it.
  std::chrono::milliseconds ttl = kDefaultTtl;
  /// If empty, the request cannot be repeated. To repeat a request after an unknown outcome, pass
  /// make_token() and then the same token again: until the claim expires, the repeated request
  /// returns the answer that the first one should have returned. Never share a token between two
  /// requests: what the second one returns is unspecified.
  Token token = {};
};

/// Checks the limits of `request`, as every store does first. invalid_argument: the scope, id or
/// ttl is outside them; the detail names which.
HAPAX_API Result<void> check(const DedupRequest& request);

/// The answer to a DedupRequest.
struct Dedup {
  /// false: the id was free, and this request has claimed it. true: it was already claimed; this is
  /// not an error.
  bool duplicate = false;
};

/// The contract of a store, and the only method that a custom store must implement; the suite in
/// compliance.hpp tests it. Any number of threads may call it at the same time.
class HAPAX_API DedupStore {
 public:
  virtual ~DedupStore() = default;

  /// Claims every free id and reports for each whether it was a duplicate.
  ///
  /// Success: one answer for each request, in order; an id repeated in the call belongs to its
  /// first occurrence. The claims are durable when the call returns. Of any number of concurrent
  /// callers of one free id, exactly one gets `duplicate == false`. A claim expires after its ttl:
  /// at `now >= claimed + ttl` the id is free again, where `now` is read once per call. A claim
  /// must never expire early: the time must count while the store is closed, and a clock that jumps
  /// must not free it. A request with the claim's own token is not a duplicate; an empty token
  /// matches no claim, and a store need not generate tokens. No requests: no answers, and no error.
  ///
  /// Errors concern the whole call. invalid_argument: check() rejects a request, so nothing is
  /// claimed; a store may also reject more than kMaxBatch requests, and must accept 1000. Otherwise
  /// the codes of Code whose name starts with store_. did_not_happen: nothing was claimed. unknown
  /// (outcome_unknown): some or all may have been claimed; repeat the call with the same tokens to
  /// find out.
  virtual Result<std::vector<Dedup>> dedup(std::span<const DedupRequest> requests) = 0;
};

/// What a store can do. The stores of this version have all of them except `keys`.
enum class Capability : std::uint8_t {
  dedup,   ///< claims of ids: Store::dedup
  keys,    ///< records of Idempotency-Key; no store has it in this version
  inbox,   ///< events and deliveries of the server
  outbox,  ///< messages to send
};

/// "dedup", "keys", "inbox" or "outbox". The view is valid forever.
HAPAX_API std::string_view name(Capability capability) noexcept;

/// A set of capabilities: `{Capability::dedup, Capability::inbox}`.
class Capabilities {
 public:
  /// The empty set.
  Capabilities() = default;
  /// The set of these.
  Capabilities(std::initializer_list<Capability> list) {
    for (Capability each : list) bits_ |= bit(each);
  }
  /// Whether the set contains `capability`.
  bool has(Capability capability) const { return (bits_ & bit(capability)) != 0; }

 private:
  static unsigned bit(Capability capability) { return 1U << static_cast<unsigned>(capability); }
  unsigned bits_ = 0;
};

/// Options of open() and migrate(). The defaults suit most programs. A value outside its range is
/// `misconfigured`, also if the store does not use it.
struct OpenOptions {
  /// Create or upgrade the schema. false: a missing or older schema is `misconfigured`.
  bool migrate = true;
  /// open() fails with `misconfigured` if the store lacks one of these.
  Capabilities needs = {Capability::dedup};
  /// sqlite: how long to wait for another writer before `store_busy`; 0 to 1 day.
  std::chrono::milliseconds busy_timeout = std::chrono::seconds(5);
  /// postgres: how long to wait for each response before `store_unavailable`; 1 ms to 1 day. A
  /// longer one delays failover, a shorter one fails under load.
  std::chrono::milliseconds timeout = std::chrono::seconds(5);
  /// postgres: maximum number of connections, 1 to 1000. Further callers share a transaction.
  std::size_t connections = 4;
  /// memory: maximum number of ids. A full store is `store_full`; no unexpired id is evicted.
  std::size_t memory_max_ids = 1'000'000;

  /// Time, for tests. It must outlive the store. null: the system's; on postgres the server's.
  Clock* clock = nullptr;
  /// Randomness, for tests. It must outlive the store. null: the system's.
  Random* random = nullptr;
};

/// Progress of Store::purge.
struct Purged {
  std::size_t removed = 0;  ///< ids removed by this call
  bool done = false;        ///< the whole store has been scanned since `done` was last true
};

/// A store, opened from a URL. Any number of threads may call it; calls block. Concurrent callers
/// share one transaction and one fsync (group commit). It may run one background thread. Claims are
/// on disk when the call returns, except those of "memory:", which last as long as the store.
/// Movable: a moved-from store may only be destroyed or assigned to. No call may be running when it
/// is destroyed or moved.
class HAPAX_API Store final : public DedupStore {
 public:
  /// Takes over the other store.
  Store(Store&&) noexcept;
  /// Closes this store and takes over the other one.
  Store& operator=(Store&&) noexcept;
  /// Closes the store.
  ~Store() override;

  /// What the store can do.
  Capabilities capabilities() const;

  /// Claims one id; see DedupStore::dedup. A duplicate is not an error.
  ///
  /// invalid_argument: outside the limits. store_busy: another process kept writing for
  /// busy_timeout (sqlite), or the server cancelled the statement. store_full, store_read_only,
  /// store_unavailable, store_corrupt: see Code. outcome_unknown: the answer to the commit was
  /// lost; repeat the request with the same token. For all others nothing was claimed.
  Result<Dedup> dedup(const DedupRequest& request);
  /// Claims up to kMaxBatch ids in one transaction: all or nothing. Errors as above;
  /// invalid_argument also for more requests.
  Result<std::vector<Dedup>> dedup(std::span<const DedupRequest> requests) override;

  /// Removes up to `limit` expired ids (at most 100,000) in one short transaction. It may scan only
  /// part of the store and resumes there at the next call, until `done`. Call it regularly to
  /// reclaim space; it is never needed for correctness. invalid_argument: `limit` is 0. Other
  /// errors as for dedup(); call again later.
  Result<Purged> purge(std::size_t limit = 500);

 private:
  friend Result<Store> open(std::string_view url, const OpenOptions& options);
  struct HAPAX_HIDDEN Parts;
  explicit Store(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

/// Opens "sqlite:PATH", "postgres://USER@HOST/DATABASE" (anything libpq accepts, including several
/// hosts with target_session_attrs) or "memory:", a new empty store in this process.
///
/// Success: the schema exists and the store is writable. The file of a SQLite store is created, its
/// directory is not. If the server becomes unavailable later, the store retries with backoff within
/// `timeout`.
///
/// misconfigured: the URL, an option, the directory, the server's version or settings, its
/// password, or with `migrate = false` the schema. store_read_only, store_newer, store_corrupt,
/// store_full: see Code. store_busy: another process is migrating the schema or holds the file.
/// store_unavailable: the server does not answer, or the file cannot be opened. The detail says how
/// to correct it and never shows a password.
HAPAX_API Result<Store> open(std::string_view url, const OpenOptions& options = {});

/// Creates or upgrades the schema behind `url` and returns its version; nothing changes if it is
/// current. Safe to run from several processes at once. For deployments where the program itself
/// may not change the schema: open() with `migrate = false` there. Errors as for open();
/// misconfigured also for "memory:".
HAPAX_API Result<int> migrate(std::string_view url, const OpenOptions& options = {});

}  // namespace hapax
