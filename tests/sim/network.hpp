// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "deliver/transport.hpp"
#include "sim/ledger.hpp"
#include "sim/lifecycle.hpp"
#include "sim/waiters.hpp"

#include <map>
#include <set>

namespace hapax::sim {

// Each fault hits one in N requests; 0: never.
struct NetworkFaults {
  std::uint64_t refused = 0;       // no connection, no byte sent
  std::uint64_t reset_before = 0;  // before the handler ran
  std::uint64_t reset_after = 0;   // after the handler finished
  std::uint64_t lost = 0;          // the request vanishes
  std::uint64_t lost_answer = 0;
  std::uint64_t delayed = 0;  // the request arrives after the sender's timeout
  std::uint64_t slow = 0;     // the answer takes about as long as the timeout
  std::uint64_t error = 0;    // 500, in half of the cases after the effect
  std::uint64_t busy = 0;     // 429 or 503 with Retry-After
  std::uint64_t moved = 0;    // 302
  std::uint64_t gone = 0;     // 410
};

// The network and the handlers behind the http destinations. Handlers honor the idempotency key:
// each delivery has its effect once.
class Network {
 public:
  Network(Timeline& timeline, Ledger& ledger) : timeline_(timeline), ledger_(ledger) {}

  void change(const NetworkFaults& faults) { faults_ = faults; }
  // Until then the destination answers 500, or never answers.
  void break_down(DestinationNo destination, BootTime until, bool hangs);
  void part(const std::string& node, DestinationNo destination, BootTime until);
  void heal();

  // Calls `done` at most once, at a later time; never if the answer is lost.
  using Done = std::function<void(const deliver::AttemptResponse&)>;
  void send(const std::string& node, const deliver::Destination& to, const store::Leased& what,
            const Done& done);

 private:
  struct Broken {
    BootTime until{};
    bool hangs = false;
  };

  void arrive(const deliver::Destination& to, const store::Leased& what, const Done& done);
  deliver::AttemptResponse handle(DestinationNo to, const store::Leased& what);
  deliver::AttemptResponse retry_later();
  void answer(const Done& done, const deliver::AttemptResponse& answer, BootTime delay);
  BootTime hop() { return timeline_.between(BootTime(100), milliseconds(30)); }

  Timeline& timeline_;
  Ledger& ledger_;
  NetworkFaults faults_;
  std::map<DestinationNo, Broken> broken_;
  std::map<std::pair<std::string, DestinationNo>, BootTime> parted_;
};

// The transport of one node.
class SimTransport final : public deliver::Transport {
 public:
  SimTransport(Lifecycle& lifecycle, Network& network, Ledger& ledger)
      : lifecycle_(lifecycle), network_(network), ledger_(ledger) {}

  Task<deliver::AttemptResponse> send(const deliver::Destination& to,
                                      const store::Leased& what) override;

  std::size_t waiting() const { return waiters_.size(); }
  void die() { waiters_.clear(); }

 private:
  void start(std::unique_ptr<Waiter<deliver::AttemptResponse>> waiter,
             const deliver::Destination& to, const store::Leased& what);

  Lifecycle& lifecycle_;
  Network& network_;
  Ledger& ledger_;
  Waiters<deliver::AttemptResponse> waiters_;
};

}  // namespace hapax::sim
