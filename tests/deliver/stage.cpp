// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "deliver/stage.hpp"

#include <boost/asio/co_spawn.hpp>

#include <algorithm>

namespace hapax::deliver {

namespace asio = boost::asio;
using store::fault::Fault;

Task<AttemptResponse> ScriptedTransport::send(const Destination& to, const store::Leased& what) {
  seen.push_back(
      {lifecycle_.now(), to.name, {what.event.no, what.delivery}, what.attempt, what.fence});
  std::size_t& here = at_once[to.name];
  most_at_once[to.name] = std::max(most_at_once[to.name], ++here);
  const std::optional<Act> act = script(seen.back());
  AttemptResponse answer;
  answer.error = "timed-out";
  if (act) answer = act->answer;
  const BootTime after = act ? act->after : BootTime(to.timeout);
  const auto wait = [this, after, &answer](std::unique_ptr<sim::Waiter<AttemptResponse>> waiter) {
    const std::uint64_t number = waiters_.add(std::move(waiter));
    lifecycle_.in(
        after, [this, number, answer] { waiters_.answer(lifecycle_.context(), number, answer); });
  };
  AttemptResponse response = co_await sim::suspend<AttemptResponse>(wait);
  --at_once[to.name];
  co_return response;
}

Stage::Stage(const sim::StoreDelays& delays)
    : faulty_(memory,
              [this](std::string_view) { return store_fault ? store_fault() : Fault::none; }),
      async_store_(lifecycle, faulty_, delays) {}

Stage::~Stage() {
  async_store_.die();
  transport.die();
  timers_.die();
  dispatchers_.clear();
  lifecycle.die();
}

std::shared_ptr<const Destination> Stage::destination(
    const std::string& name, const std::function<void(Destination&)>& change) {
  Destination made;
  made.name = name;
  made.kind = Destination::Kind::http;
  made.no = DestinationNo(*memory.catalog->number_of(store::NameKind::destination, name));
  made.retry = {seconds(1), seconds(5), seconds(30)};
  made.breaker.reset();
  if (change) change(made);
  return std::make_shared<const Destination>(made);
}

PushDispatcher& Stage::start(std::shared_ptr<const Destination> destination) {
  const PushDispatcher::Deps deps{
      lifecycle.context().get_executor(),
      async_store_,
      transport,
      timers_,
      notifier,
      timeline.clock(),
      timeline.random(),
      log_,
      [] { return std::int64_t{1}; },
      [this](const Attempted& attempted) { outcomes.emplace_back(attempted.outcome); }};
  dispatchers_.push_back(std::make_shared<PushDispatcher>(deps, std::move(destination)));
  ++running_;
  asio::co_spawn(lifecycle.context(), dispatchers_.back()->run(),
                 [this](const std::exception_ptr&) { --running_; });
  return *dispatchers_.back();
}

EventNo Stage::send(std::vector<DestinationNo> to, const std::string& order_key) {
  std::vector<store::Target> targets;
  for (const DestinationNo each : to) targets.push_back({each});
  const std::string id = "evt_" + std::to_string(++last_event_);
  store::Arrival arrival;
  arrival.no = EventNo(last_event_);
  arrival.source = SourceNo(1);
  arrival.key = arrival.id = id;
  arrival.order_key = order_key;
  arrival.body = "{}";
  arrival.targets = targets;
  const store::Admit admit{.arrivals = {&arrival, 1}};
  static_cast<void>(memory.queue->write({.admit = {&admit, 1}}));
  return arrival.no;
}

void Stage::run_for(BootTime length) {
  const BootTime until = now() + length;
  do {
    while (lifecycle.poll()) {
    }
  } while (timeline.step(until));
  timeline.at(until, [] {});
  timeline.step(until);
}

store::EventDetail Stage::detail(EventNo event) {
  return *memory.catalog->event(event)->value;
}

store::DeliveryRow Stage::row(EventNo event, std::size_t delivery) {
  return detail(event).deliveries.at(delivery);
}

std::vector<Seen> Stage::seen_by(const std::string& destination) const {
  std::vector<Seen> found;
  std::copy_if(transport.seen.begin(), transport.seen.end(), std::back_inserter(found),
               [&](const Seen& each) { return each.to == destination; });
  return found;
}

}  // namespace hapax::deliver
