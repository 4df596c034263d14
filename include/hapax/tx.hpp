// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/result.hpp>
#include <hapax/store.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hapax {

// Limits of an outbox message; longer is refused before anything is written.
inline constexpr std::size_t kMaxDestination = 128;
inline constexpr std::size_t kMaxPayload = 16 * 1024 * 1024;
inline constexpr std::size_t kMaxHeaderBytes = 64 * 1024;  // names and values together
inline constexpr std::size_t kMaxResult = 1024 * 1024;     // of what once() stores

// What must happen once: an id in a scope. The same claim as Store::dedup takes, so an id that went
// through one is a duplicate to the other.
struct OnceId {
  std::string_view scope;
  std::string_view id;
  std::chrono::milliseconds ttl = kDefaultTtl;
};

struct Once {
  bool duplicate = false;  // true: the work did not run now, because it was done before
  std::string result;      // what the work returned, now or then; empty where it returned nothing
};

struct MessageId {
  std::array<unsigned char, 16> bytes{};

  HAPAX_API std::string to_string() const;  // as a UUID
  friend bool operator==(const MessageId&, const MessageId&) = default;
};

// An intent to call the outside, written in the caller's transaction.
struct Message {
  std::string_view destination;     // a name: 1 to kMaxDestination visible ASCII characters
  std::string_view key = {};        // a second message with this key is a duplicate; empty: none
  std::string_view payload = {};    // any bytes, also none
  std::string_view order_key = {};  // messages that share it are delivered in order; empty: none
  std::vector<std::pair<std::string_view, std::string_view>> headers = {};
};

struct Enqueued {
  MessageId message;       // of a duplicate: the first one's
  bool duplicate = false;  // nothing was written, the message is there already
};

// A transaction in progress on the caller's own database handle; see SqliteTx. Not thread-safe, as
// the handle is not.
class HAPAX_API Tx {
 public:
  virtual ~Tx() = default;

 protected:
  Tx() = default;
  Tx(const Tx&) = default;
  Tx(Tx&&) = default;
  Tx& operator=(const Tx&) = default;
  Tx& operator=(Tx&&) = default;

  struct Entered {
    bool duplicate = false;
    std::string result;  // of a duplicate
    std::string key;
    Token token;
  };

 private:
  friend class OnceStep;
  friend class Outbox;

  // Sets a savepoint and claims. Fresh: the savepoint stays. Otherwise it is gone again.
  virtual Result<Entered> enter(const OnceId& what) = 0;
  virtual Result<void> keep(const Entered& entered, std::string_view result) = 0;
  // Back to the savepoint. True: the caller's transaction goes on. False: it is over, all of it
  // undone, by the database after an error or because the savepoint could not be reached: a caller
  // who commits anyway must not commit a claim without its work. An error of unknown outcome when
  // the work has ended the transaction.
  virtual Result<bool> leave(const Entered& entered) = 0;
  virtual Result<Enqueued> enqueue(const Message& message) = 0;
};

}  // namespace hapax
