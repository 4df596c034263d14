// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/verify.hpp>

#include "async/async_store.hpp"
#include "async/delivery_notifier.hpp"
#include "gateway/duplicates.hpp"
#include "gateway/numbers.hpp"
#include "gateway/source.hpp"
#include "gateway/unclaimed_rate.hpp"

#include <boost/asio/thread_pool.hpp>

#include <string>
#include <variant>
#include <vector>

namespace hapax::gateway {

struct Accepted {
  EventNo event;  // for a duplicate, the first event with the id
  std::string id;
  bool duplicate = false;
  bool changed = false;       // a duplicate with another body
  Would would = Would::none;  // observe mode: stored as `event`, without a claim
};

struct Refused {
  Reason reason = Reason::none;
  std::string detail;  // for the log; never for the sender
};

struct Stored {
  std::vector<Accepted> events;  // durable, in the order of the request
  std::vector<Item> rejected;    // unusable items of a split source; views of its body
};

// The result of one request: stored events; a rejection; the response to a handshake; or a store
// error, after which nothing is guaranteed.
using Received = std::variant<Stored, Refused, HandshakeAnswer, Error>;

// Receipt time of a request, and the reject it comes from.
struct ReceiveContext {
  WallTime received{};  // signatures are checked against this time
  // Set for a re-admission: items without an id are claimed by this number, so that they are not
  // admitted twice.
  std::optional<RejectNo> reject = {};
  bool item = false;  // one item of a request that was verified on receipt
};

// True if verification takes milliseconds: it hashes the request once per secret, after
// decompression if it is compressed. Anyone can send such a request.
bool is_costly(const Source& source, const Request& request);

struct ReceiverDeps {
  AsyncStore& async_store;
  NodeNumbers& numbers;
  DuplicateCounts& duplicates;
  UnclaimedRate& unclaimed;
  DeliveryNotifier& notifier;
  Clock& clock;
};

// The ingest pipeline. One per I/O thread.
class Receiver {
 public:
  // With `verifying`, costly requests are verified on that pool, so that they do not delay the
  // other requests of the I/O thread. The pool's queue is bounded by the number of connections.
  explicit Receiver(const ReceiverDeps& deps, boost::asio::thread_pool* verifying = nullptr)
      : deps_(deps), verifying_(verifying) {}

  // All arguments must outlive the call.
  Task<Received> receive(const Source& source, const Request& request,
                         const ReceiveContext& context);

  // The first half of receive(): authenticates and identifies the request. For a split source, some
  // items may be rejected.
  std::variant<Identified, Refused> authenticate_and_identify(const Source& source,
                                                              const Request& request,
                                                              const ReceiveContext& context) {
    return authenticate_and_identify(source, request, context, scratch_);
  }

  // For a source in observe mode: stores the rejected and duplicate events of a request and updates
  // `received`. Defined in observe.cpp.
  Task<void> observe(const Source& source, const Request& request, Received& received);

 private:
  std::variant<Identified, Refused> authenticate_and_identify(const Source& source,
                                                              const Request& request,
                                                              const ReceiveContext& context,
                                                              Scratch& scratch) const;
  Task<std::variant<Identified, Refused>> authenticate_on_pool(const Source& source,
                                                               const Request& request,
                                                               const ReceiveContext& context);
  Task<std::optional<store::AdmitAnswer>> store_unclaimed(const Source& source,
                                                          const Request& request,
                                                          const Identified& identified,
                                                          Would would);

  const ReceiverDeps deps_;
  boost::asio::thread_pool* const verifying_;
  Scratch scratch_;
};

}  // namespace hapax::gateway
