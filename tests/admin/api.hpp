// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "admin/api/call.hpp"
#include "admin/schema.hpp"
#include "async/delivery_notifier.hpp"
#include "deliver/pull.hpp"
#include "store/driver.hpp"
#include "support/world.hpp"

#include <gtest/gtest.h>
#include <boost/json.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace hapax::test {

struct ApiAnswer {
  int status = 0;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;

  boost::json::value json() const { return boost::json::parse(body); }
  std::string problem() const;  // "not-found"
  std::string detail() const;
};

inline constexpr const char* kToken = "the-admin-token";
inline constexpr const char* kWorkerToken = "of-a-worker";  // lease:audit, settle:audit
inline constexpr const char* kReaderToken = "of-a-reader";  // read, dedup:mail

inline constexpr std::size_t kServerThreads = 2;

enum class StoreKind : std::uint8_t { memory, sqlite, unavailable };

// A store with a manual clock, and an admin API over it on its own port. Leases, polls and replays
// use that clock.
class Api {
 public:
  // `destinations` are of kind pull, except "pushed"; "dev" is a developer's machine. Failures are
  // retried after 10 s and 20 s.
  explicit Api(StoreKind kind, const std::vector<std::string>& destinations = {"work"});
  ~Api();
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;

  // Sent with the token and Host "localhost". A response that does not match the OpenAPI document
  // fails the test.
  ApiAnswer get(const std::string& target) { return ask("GET", target, ""); }
  ApiAnswer post(const std::string& target, const std::string& body) {
    return ask("POST", target, body);
  }
  ApiAnswer ask(const std::string& method, const std::string& target, const std::string& body,
                const std::string& token = kToken);
  // One request with exactly these headers.
  ApiAnswer raw(const std::string& method, const std::string& target,
                const std::vector<std::string>& headers, const std::string& body = "");

  // Sends `bytes` and returns everything received until the server closes.
  std::string wire(const std::string& bytes);

  // Only for StoreKind::without_inbox: while held, calls of paused() block.
  void hold_store(bool held);

  const store::Driver& driver();
  ManualClock& clock();
  admin::ServerState& state();
  DeliveryNotifier& notifier();
  deliver::LeaseCache& lease_cache();
  int port() const;
  void end_polls();                      // like a server that stops
  void revoke_tokens();                  // except the admin token, like a configuration reload
  std::vector<std::string> log() const;  // the reasons of rejected requests

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// An event to store.
struct Sample {
  std::string id;
  std::string source = "demo";
  std::string tenant = "";
  std::string type = "";
  std::string order_key = "";
  std::optional<std::int64_t> version = {};
  std::string body = "body";
  std::vector<Header> headers = {};
  std::vector<std::string> destinations = {};
};

// Admits the events in order; returns their ids.
std::vector<std::string> admit(Api& api, const std::vector<Sample>& samples);

// Leases the delivery that is due first and settles it. Returns the sender's id of its event, or ""
// if nothing is due.
std::string settle_first(Api& api, const std::string& destination, const Disposition& disposition,
                         std::chrono::milliseconds horizon = {});
// The states of all deliveries of an event, separated by spaces: "completed pending".
std::string states_of(Api& api, const std::string& event);

SourceNo source_no(Api& api, const std::string& name);
DestinationNo destination_no(Api& api, const std::string& name);

// Waits for the end of the bulk replay with this id and returns it. Advances the clock meanwhile.
boost::json::value ended_replay(Api& api, const std::string& replay);

// The senders' ids of the events of a list.
std::vector<std::string> ids_in(const ApiAnswer& list);

}  // namespace hapax::test
