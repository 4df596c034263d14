// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "sim/node.hpp"

#include <deque>

namespace hapax::sim {

// A source with Stripe's signature scheme and bodies of the form {"id","k","v"}.
gateway::Source make_source(const std::string& name, bool lanes, bool versions);

// The senders: repeat each event until a 2xx response arrives; send some events twice and some with
// a forged signature. The oracles:
//
//   acked-durable  acknowledged events are in the store with their bytes
//   one-event      one event per identity
//   forged         no event with a wrong signature is accepted
class Senders {
 public:
  using Nodes = std::vector<std::unique_ptr<Node>>;

  Senders(Timeline& timeline, const store::Driver& store, Ledger& ledger, Nodes& nodes)
      : timeline_(timeline), store_(store), ledger_(ledger), nodes_(nodes) {}

  // Schedules the events within `span`, each to one of the sources.
  void plan(const std::vector<gateway::Source>& sources, std::size_t events, BootTime span);
  void heal() { faulty_ = false; }

  bool all_acked() const;
  std::size_t acked() const;
  void check_end();

 private:
  struct Message {
    const gateway::Source* source = nullptr;
    std::string id;
    std::string body;
    std::optional<EventNo> event;  // set once acknowledged
    bool heard = false;            // the sender got the response
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
  bool faulty_ = true;
};

}  // namespace hapax::sim
