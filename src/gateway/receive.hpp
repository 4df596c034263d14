// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/handshake.hpp>

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
  EventNo event;  // the one that has the id: of a duplicate the first one's
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
  std::vector<Item> rejected;    // items of a split source that are no events; views of its body
};

// The result of one request: stored events; a rejection; a response that is not about an event; or
// an error of the store, after which nothing is promised.
using Received = std::variant<Stored, Refused, HandshakeAnswer, Error>;

// Receipt time of a request, and the reject it comes from.
struct ReceiveContext {
  WallTime received{};  // signatures are checked against this time
  // It is a reject that is tried again: what it has no id of is known by this number, so that it is
  // not admitted twice.
  std::optional<RejectNo> reject = {};
  bool item = false;  // one item of a request that was verified when it came
};

// Whether verification takes milliseconds: hashing the request once per secret, after decompressing
// it if it is compressed. Anyone can send such a request.
bool is_costly(const Source& source, const Request& request);

// The ingest pipeline. One per I/O thread.
class Receiver {
 public:
  // With `verifying`, costly requests are examined on its threads, so that the others of the I/O
  // thread need not wait. It holds as many of them as there are connections that sent one.
  Receiver(AsyncStore& async_store, NodeNumbers& numbers, DuplicateCounts& duplicates,
           UnclaimedRate& unclaimed, DeliveryNotifier& notifier, Clock& clock,
           boost::asio::thread_pool* verifying = nullptr)
      : async_store_(async_store),
        numbers_(numbers),
        duplicates_(duplicates),
        unclaimed_(unclaimed),
        notifier_(notifier),
        clock_(clock),
        verifying_(verifying) {}

  // All must live until the answer is there.
  Task<Received> receive(const Source& source, const Request& request,
                         const ReceiveContext& context);

  // The first half: what the request is, if it is authentic and can be identified. Of a split
  // source some items may be refused.
  std::variant<Identified, Refused> authenticate_and_identify(const Source& source,
                                                              const Request& request,
                                                              const ReceiveContext& context) {
    return authenticate_and_identify(source, request, context, scratch_);
  }

  // Observe mode: of what was `received` of a source that does not enforce, stores what was refused
  // or a duplicate, and says so in `received`. In observe.cpp.
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

  AsyncStore& async_store_;
  NodeNumbers& numbers_;
  DuplicateCounts& duplicates_;
  UnclaimedRate& unclaimed_;
  DeliveryNotifier& notifier_;
  Clock& clock_;
  boost::asio::thread_pool* const verifying_;
  Scratch scratch_;
};

}  // namespace hapax::gateway
