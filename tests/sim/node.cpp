// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "sim/node.hpp"

#include "maintenance/maintenance.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>

namespace hapax::sim {

namespace asio = boost::asio;
using store::fault::Fault;

void NoLog::line(Level /*level*/, std::string_view /*what*/,
                 std::initializer_list<LogField> /*fields*/) {}

FaultyStore::FaultyStore(Lifecycle& lifecycle, const store::Driver& driver)
    : lifecycle_(lifecycle),
      driver_(driver, [this](std::string_view operation) { return plan(operation); }) {}

void FaultyStore::change(const StoreFaults& faults) {
  faults_ = faults;
  if (faults_.any == 0) driver_.restart();
}

Fault FaultyStore::plan(std::string_view operation) {
  Timeline& timeline = lifecycle_.timeline();
  if (!timeline.one_in(faults_.any)) return Fault::none;
  static constexpr std::array kFaults = {
      Fault::fail,         Fault::fail,         Fault::lose_answer, Fault::lose_answer,
      Fault::lose_request, Fault::crash_before, Fault::crash_after};
  const std::size_t which = timeline.below(kFaults.size());
  last_fault_ = lifecycle_.now();
  lifecycle_.note("store fault " + std::to_string(which) + " in " + std::string(operation));
  if (kFaults[which] == Fault::crash_before || kFaults[which] == Fault::crash_after) {
    lifecycle_.in(timeline.between(milliseconds(1), faults_.away), [this] { driver_.restart(); });
  }
  return kFaults[which];
}

namespace {

Token token_of(std::int64_t number) {
  Token token;
  token.bytes[0] = 1;
  for (std::size_t i = 0; i < 8; ++i) {
    token.bytes[i + 1] = static_cast<unsigned char>(number >> (8 * i));
  }
  return token;
}

}  // namespace

Node::Node(const NodeDeps& deps, const std::string& name, std::int64_t number,
           const StoreFaults& faults)
    : deps_(deps),
      number_(number),
      owner_(token_of(number)),
      lifecycle_(deps.timeline, name),
      clock_(deps.timeline.clock()),
      store_(lifecycle_, deps.store),
      timers_(lifecycle_),
      async_store_(lifecycle_, store_.driver(), faults.delays),
      transport_(lifecycle_, deps.network, deps.ledger),
      numbers_(clock_),
      unclaimed_(clock_),
      receiver_({async_store_, numbers_, duplicates_, unclaimed_, notifier_, clock_}) {
  change(faults);
  maintain();
  for (const auto& each : deps_.pushed) {
    auto dispatcher = std::make_shared<deliver::PushDispatcher>(
        deliver::PushDispatcher::Deps{lifecycle_.context().get_executor(), async_store_, transport_,
                                      timers_, notifier_, clock_, deps_.timeline.random(), log_,
                                      [this] { return number_; }, [](const deliver::Attempted&) {}},
        each);
    ++running_;
    asio::co_spawn(lifecycle_.context(), dispatcher->run(),
                   [this](const std::exception_ptr&) { --running_; });
    dispatchers_.push_back(std::move(dispatcher));
  }
}

// Waiters are destroyed before the event loop that they run on; the loop's contents end with it.
Node::~Node() {
  async_store_.die();
  transport_.die();
  timers_.die();
  dispatchers_.clear();
  lifecycle_.die();
}

void Node::change(const StoreFaults& faults) {
  store_.change(faults);
  async_store_.change(faults.delays);
}

// Like maintenance/maintenance.cpp, once a second.
void Node::maintain() {
  const BootTime now = lifecycle_.now();
  if (renewed_ == BootTime::min() || now - renewed_ >= maintenance::kRenewNode) {
    const Result<NodeNo> node = store_.driver().take_node(owner_, maintenance::kNodeLease);
    if (node) {
      numbers_.assign(*node, now + maintenance::kNodeLease);
      renewed_ = now;
    }
  }
  static_cast<void>(duplicates_.write_to(store_.driver()));
  lifecycle_.in(seconds(1), [this] { maintain(); });
}

void Node::receive(const gateway::Source& source, const Request& request, Answered answered) {
  ++serving_;
  asio::co_spawn(lifecycle_.context(), serve(source, request, std::move(answered)), asio::detached);
}

Task<void> Node::serve(const gateway::Source& source, Request request, Answered answered) {
  const gateway::ReceiveContext context{.received = clock_.wall()};
  const gateway::Received received = co_await receiver_.receive(source, request, context);
  --serving_;
  answered(received);
}

void Node::stop(BootTime grace) {
  lifecycle_.note("stops");
  stopping_ = true;
  for (const auto& each : dispatchers_) each->stop(lifecycle_.now() + grace);
}

bool Node::stopped() const {
  return stopping_ && running_ == 0 && serving_ == 0 && async_store_.idle();
}

void Node::check_stopped() {
  // Leases that the store did not report or did not take back in time expire.
  constexpr BootTime kLongestLease = seconds(60);
  const BootTime trouble = std::max(store_.last_fault(), async_store_.last_late());
  if (lifecycle_.now() - trouble < kLongestLease) return;
  if (deps_.ledger.held_by(holder()) == 0) return;
  lifecycle_.timeline().fail("leak", lifecycle_.name() + " has stopped and still holds leases");
}

void Node::check_gone() {
  std::string left;
  if (timers_.waiting() > 0) left += " timers";
  if (transport_.waiting() > 0) left += " attempts";
  if (!async_store_.idle()) left += " store requests";
  for (const auto& each : dispatchers_) {
    if (each->under_way() > 0) left += " attempts in flight";
    if (each.use_count() > 1) left += " coroutines";
  }
  if (!left.empty()) lifecycle_.timeline().fail("leak", lifecycle_.name() + " has left" + left);
}

}  // namespace hapax::sim
