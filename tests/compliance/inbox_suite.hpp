// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "model/headers.hpp"
#include "store/driver.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

// The compliance suite for the inbox of every store. The contracts are those of store/driver.hpp.
namespace hapax::test {

using namespace hapax::store;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// An outbox message in a transaction that is still open.
class OpenMessage {
 public:
  virtual ~OpenMessage() = default;
  virtual void commit() = 0;
};

// A store under test, initially empty. Every case gets its own.
class InboxSubject {
 public:
  virtual ~InboxSubject() = default;

  // Returns the same driver until restart(). Cases call it from many threads.
  virtual const Driver& driver() = 0;
  // Advances the store's time by exactly this much.
  virtual void advance(milliseconds by) = 0;
  // Moves the wall clock of this node. No effect if the store uses a server's time.
  virtual void jump_wall(milliseconds by) = 0;
  // Closes and reopens the store, as a new process would. No effect if the store ends with its
  // process.
  virtual void restart() {}
  // Writes a message and leaves its transaction open. Null if the store has a single writer.
  virtual std::unique_ptr<OpenMessage> begin_message(const Message&) { return nullptr; }
};

// An arrival, in the form that the cases use.
struct Incoming {
  std::string id = "a";
  std::string source = "src";
  std::string tenant = "";
  std::string body = "body";
  std::string order_key = "";
  std::optional<std::int64_t> version = {};
  milliseconds remember = 30 * days;
  std::vector<std::string> to = {"dst"};
  std::vector<std::string> listen = {};
  std::string type = "";
  std::string headers = "";
  EventNo no = {};  // 0: draw a new number
  bool keyless = false;
};

struct LeaseHow {
  std::size_t max = 1;
  milliseconds lease = seconds(30);
  Holder holder = {Holder::Kind::push, 1};
  unsigned max_abandons = 0;
  milliseconds horizon = {};
  OnDead on_dead = OnDead::skip;
};

inline constexpr Holder kPull{Holder::Kind::pull, 7};

// Drives the store through a case's steps. If the case runs with restarts, the store is restarted
// before each step. Unexpected errors fail the test.
class InboxSteps {
 public:
  InboxSteps(std::unique_ptr<InboxSubject> subject, bool restarting);
  ~InboxSteps();

  // Returns the driver, after a restart if this case runs with restarts. Valid for one call only.
  const Driver& next();
  const Driver& same() { return subject_->driver(); }  // without a restart
  InboxSubject& subject() { return *subject_; }
  void advance(milliseconds by) { subject_->advance(by); }

  SourceNo source(const std::string& name);
  DestinationNo destination(const std::string& name);
  EventNo new_number();

  // Checks and admits the requests; returns the answer to each.
  std::vector<AdmitAnswer> admit_batch(const std::vector<std::vector<Incoming>>& requests,
                                       Would would = Would::none, bool guard = true);
  AdmitAnswer admit_together(const std::vector<Incoming>& arrivals, Would would = Would::none,
                             bool guard = true);
  Admission admit(const Incoming& arrival, Would would = Would::none, bool guard = true);
  EventNo fresh(const Incoming& arrival);                        // must be fresh
  std::vector<EventNo> fresh_many(int count, Incoming arrival);  // ids "0", "1", ...

  Lease lease(const std::string& destination, const LeaseHow& how = {});
  std::vector<Leased> leased(const std::string& destination, const LeaseHow& how = {});
  Leased lease_one(const std::string& destination = "dst", const LeaseHow& how = {});
  bool nothing_due(const std::string& destination = "dst");  // leases due deliveries, if any
  // Leases until no delivery is returned or passed over.
  std::vector<Leased> lease_all(const std::string& destination, LeaseHow how = {});

  Settled settle(const Leased& lease, const Disposition& disposition, const AttemptNote& note = {});
  Settled settle(const DeliveryRef& which, Fence fence, const Disposition& disposition,
                 const AttemptNote& note = {});
  void ack(const Leased& lease);                         // must be ok
  void deliver(const std::string& destination = "dst");  // leases one and acknowledges it
  void kill(const Leased& lease, OnDead on_dead = OnDead::skip);

  EventDetail detail(EventNo event);
  DeliveryRow row(EventNo event, std::int64_t delivery = 1);
  DeliveryState state(EventNo event, std::int64_t delivery = 1) {
    return row(event, delivery).state;
  }
  Presence presence(EventNo event);
  std::vector<EventRow> list(const EventFilter& filter, std::size_t page = 100);

  Cancelled cancel(EventNo event, std::int64_t delivery = 1);
  Replayed replay(const Replay& what);
  // Sweeps to the end, with periods for all sources used so far. Returns the number of removed
  // events.
  std::size_t sweep(milliseconds keep, milliseconds keep_dead, std::size_t limit = 500);

 private:
  std::unique_ptr<InboxSubject> subject_;
  const bool restarting_;
  std::map<std::string, SourceNo> sources_;
  std::map<std::string, DestinationNo> destinations_;
  std::int64_t last_number_ = 1'000'000;
};

DeliveryRef ref(const Leased& lease);
std::string ids(const std::vector<Leased>& leases);  // event ids: "a b c"

// Runs `work` concurrently on `threads` threads, passing each its index.
void all_at_once(int threads, const std::function<void(int)>& work);

struct InboxCase {
  const char* name;
  void (*body)(InboxSteps&);
  bool has_steps = true;  // worth running again with a restart between the steps
};

std::span<const InboxCase> admit_cases();
std::span<const InboxCase> lease_cases();
std::span<const InboxCase> settle_cases();
std::span<const InboxCase> lane_cases();
std::span<const InboxCase> version_cases();
std::span<const InboxCase> replay_cases();
std::span<const InboxCase> retention_cases();
std::span<const InboxCase> reading_cases();
std::span<const InboxCase> reject_cases();
std::span<const InboxCase> record_cases();
std::span<const InboxCase> outbox_cases();
std::span<const InboxCase> bad_input_cases();

using MakeInbox = std::function<std::unique_ptr<InboxSubject>()>;

// One store's suite: "NAMEGroup.Case" and, for cases with several steps,
// "NAMEGroup.CaseAcrossRestarts".
struct InboxSuite {
  std::string name;
  MakeInbox make;
  std::vector<std::string_view> groups = {};  // "Admit", "Lease", ...; all when empty
  bool restarts = true;
};

// Registers the suite with GoogleTest. Call before RUN_ALL_TESTS().
void add_inbox_suite(const InboxSuite& suite);

}  // namespace hapax::test
