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

// Limits of an outbox message; longer messages are rejected before anything is written.
inline constexpr std::size_t kMaxDestination = 128;
inline constexpr std::size_t kMaxPayload = 16 * 1024 * 1024;
inline constexpr std::size_t kMaxHeaderBytes = 64 * 1024;  // names and values together
inline constexpr std::size_t kMaxResult = 1024 * 1024;     // of the result stored by once()

// Identifies work that must happen once: an id in a scope. It shares its claims with Store::dedup:
// an id claimed through one is a duplicate for the other.
struct OnceId {
  std::string_view scope;
  std::string_view id;
  std::chrono::milliseconds ttl = kDefaultTtl;
};

struct Once {
  bool duplicate = false;  // true: the work was already done and did not run
  std::string result;      // the value that the work returned, now or originally; empty if none
};

struct MessageId {
  std::array<unsigned char, 16> bytes{};

  HAPAX_API std::string to_string() const;  // as a UUID
  friend bool operator==(const MessageId&, const MessageId&) = default;
};

// An outgoing message, written in the caller's transaction.
struct Message {
  std::string_view destination;     // a name: 1 to kMaxDestination visible ASCII characters
  std::string_view key = {};        // a second message with this key is a duplicate; empty: no key
  std::string_view payload = {};    // any bytes, may be empty
  std::string_view order_key = {};  // messages that share it are delivered in order; empty: none
  std::vector<std::pair<std::string_view, std::string_view>> headers = {};
};

struct Enqueued {
  MessageId message;       // for a duplicate, the id of the first message
  bool duplicate = false;  // nothing was written; the message already exists
};

// A transaction in progress on the caller's own database handle; see SqliteTx. Like the handle, not
// thread-safe.
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

  // Sets a savepoint and claims the id. The savepoint remains only if the claim is new.
  virtual Result<Entered> enter(const OnceId& what) = 0;
  virtual Result<void> keep(const Entered& entered, std::string_view result) = 0;
  // Rolls back to the savepoint. True: the caller's transaction continues. False: it was rolled
  // back entirely, by the database after an error or because the savepoint was lost; a caller that
  // commits anyway must not commit a claim without its work. The outcome of the error is unknown if
  // the work has ended the transaction.
  virtual Result<bool> leave(const Entered& entered) = 0;
  virtual Result<Enqueued> enqueue(const Message& message) = 0;
};

}  // namespace hapax
