// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "sim/node.hpp"

#include <deque>

namespace hapax::sim {

// A source that is signed as Stripe signs: {"id","k","v"}.
gateway::Source make_source(const std::string& name, bool lanes, bool versions);

// Those who send: each event again and again until it was answered with 2xx and the answer arrived;
// some of it twice, and some of it forged. The oracles:
//
//   acked-durable  what was acknowledged is in the store with its bytes
//   one-event      one event per identity
//   forged         nothing that is signed wrongly is accepted
class Senders {
 public:
  using Nodes = std::vector<std::unique_ptr<Node>>;

  Senders(Timeline& timeline, const store::Driver& store, Ledger& ledger, Nodes& nodes)
      : timeline_(timeline), store_(store), ledger_(ledger), nodes_(nodes) {}

  // Sent within `span`, to one of the sources.
  void plan(const std::vector<gateway::Source>& sources, std::size_t events, BootTime span);
  void heal() { bad_days_ = false; }

  bool all_acked() const;
  std::size_t acked() const;
  void check_end();

 private:
  struct Message {
    const gateway::Source* source = nullptr;
    std::string id;
    std::string body;
    std::optional<EventNo> event;  // as it was acknowledged
    bool heard = false;            // the sender knows
  };
  struct Sent;

  void send(std::size_t number, bool again);
  void answered(std::size_t number, bool forged, const gateway::Received& received);
  void check_stored(const Message& message);

  Timeline& timeline_;
  const store::Driver& store_;
  Ledger& ledger_;
  Nodes& nodes_;
  std::deque<Message> messages_;
  bool bad_days_ = true;
};

}  // namespace hapax::sim
