// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>
#include <hapax/result.hpp>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace hapax {

// Limits of every store. Scopes and ids are any bytes, NUL and invalid UTF-8 included, and are
// compared byte for byte. What is empty or longer is refused before anything is written.
inline constexpr std::size_t kMaxScope = 256;
inline constexpr std::size_t kMaxId = 1024;
inline constexpr std::size_t kMaxBatch = 100'000;  // requests in one call
inline constexpr std::chrono::milliseconds kMaxTtl = 36500 * days;
inline constexpr std::chrono::milliseconds kDefaultTtl = 30 * days;

// Who asks. Sixteen random bytes, never a process id or a host name: those come back.
struct Token {
  std::array<unsigned char, 16> bytes{};

  bool empty() const { return *this == Token{}; }
  friend bool operator==(const Token&, const Token&) = default;
};

// A fresh one, for a request that you may have to repeat.
HAPAX_API Token make_token();

struct DedupRequest {
  std::string_view scope;  // 1 to kMaxScope bytes: ids of two scopes never meet
  std::string_view id;     // 1 to kMaxId bytes
  std::chrono::milliseconds ttl = kDefaultTtl;  // how long the id is remembered, from its claim on
  // Leave it empty, and nobody can repeat the request. To be able to repeat one whose outcome came
  // back unknown, pass make_token(), and the same token again: the repeated request gets the answer
  // that the first one should have got. Never share a token between two requests.
  Token token = {};
};

// The limits above, as a store applies them: invalid_argument says which one was passed.
HAPAX_API Result<void> check(const DedupRequest& request);

struct Dedup {
  bool duplicate = false;  // false: the id was free and is now claimed; true: it was known already
};

// The one method a store of your own must have. hapax::compliance tests it.
class HAPAX_API DedupStore {
 public:
  virtual ~DedupStore() = default;

  // Claims each id that is free and says of each whether it was. Answers are in the order of the
  // requests; an id twice in one call is claimed by its first place. When this returns a value the
  // claims are durable. Of any number of concurrent callers with one id exactly one gets
  // `duplicate == false`. A claim is over when ttl has passed: `now >= claimed + ttl` is free
  // again. A duplicate does not extend it. A request whose token is the claim's own is not a
  // duplicate; an empty token is nobody's.
  //
  // Errors concern the whole call. did_not_happen: nothing was claimed. unknown: some or all may
  // have been claimed, resolve it by repeating the call with the same tokens.
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
  // Behaviour.
  bool migrate =
      true;  // create or upgrade the schema; false: a schema that is not there is an error
  Capabilities needs = {Capability::dedup};  // refused at once where the store lacks one
  std::chrono::milliseconds busy_timeout = std::chrono::seconds(5);  // sqlite: for another writer
  std::chrono::milliseconds timeout = std::chrono::seconds(5);       // postgres: for each answer
  std::size_t connections = 4;             // postgres: at most; callers beyond share a transaction
  std::size_t memory_max_ids = 1'000'000;  // memory: only; full is an error, no live id is evicted

  // The world, for tests. They must outlive the store; null is the real one.
  Clock* clock = nullptr;
  Random* random = nullptr;
};

// How far purge() came.
struct Purged {
  std::size_t removed = 0;
  bool done = false;  // the whole store was looked at since the last time this was true
};

namespace store {
class Driver;
}

// A store, opened from a URL. All members are thread-safe and block; none throws. Threads that call
// at the same time share one transaction and one sync. Movable; destroy it when no call runs.
class HAPAX_API Store final : public DedupStore {
 public:
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store() override;

  Capabilities capabilities() const;

  Result<Dedup> dedup(const DedupRequest& request);
  Result<std::vector<Dedup>> dedup(std::span<const DedupRequest> requests) override;

  // Removes ids whose time is over, `limit` at most (and 100,000), in one short transaction. It may
  // look at a part of the store only and goes on from there at the next call, until `done`. Calling
  // it is never needed for correctness.
  Result<Purged> purge(std::size_t limit = 500);

 private:
  friend Result<Store> open(std::string_view url, const OpenOptions& options);
  struct HAPAX_HIDDEN Parts;
  explicit Store(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

// Opens "sqlite:PATH", "postgres://USER@HOST/DATABASE" (all that libpq takes, several hosts with
// target_session_attrs too) or "memory:". On success the schema is there and the store can be
// written. A server that goes away later is waited for, a little longer each time, within
// `timeout`. Errors name the cause and the remedy: misconfigured (URL, directory), store_read_only,
// store_corrupt, store_newer, store_busy, store_unavailable.
HAPAX_API Result<Store> open(std::string_view url, const OpenOptions& options = {});

// Creates or upgrades the schema behind `url` and says which version it has then. Safe when several
// processes do it at once.
HAPAX_API Result<int> migrate(std::string_view url, const OpenOptions& options = {});

}  // namespace hapax
