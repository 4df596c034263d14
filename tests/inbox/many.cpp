// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "inbox/many.hpp"

#include "support/race.hpp"

#include <algorithm>

namespace hapax::test {

namespace {

template <class T>
T must(Result<T> result) {
  if (!result) die(result.error());
  return std::move(*result);
}

}  // namespace

std::unique_ptr<store::Opened> open_inbox(const std::string& url) {
  OpenOptions options;
  options.needs = {Capability::inbox};
  options.busy_timeout = std::chrono::seconds(60);  // many processes, one slow disk
  options.timeout = std::chrono::seconds(60);
  return must(store::open_store(url, options));
}

Names ids_of(const store::Driver& driver) {
  return {SourceNo(must(driver.catalog->number_of(store::NameKind::source, "s"))),
          DestinationNo(must(driver.catalog->number_of(store::NameKind::destination, "d")))};
}

void admit_all(const store::Driver& driver, const std::vector<Wanted>& events) {
  const Names names = ids_of(driver);
  const auto clock = make_system_clock();
  EventNumbers numbers(*clock, NodeNo(1));
  const store::Target target{.to = names.destination};
  constexpr std::size_t kAtOnce = 500;
  for (std::size_t from = 0; from < events.size(); from += kAtOnce) {
    const std::size_t count = std::min(kAtOnce, events.size() - from);
    std::vector<store::Arrival> arrivals(count);
    std::vector<store::Admit> admits(count);
    for (std::size_t i = 0; i < count; ++i) {
      const Wanted& wanted = events[from + i];
      store::Arrival& arrival = arrivals[i];
      arrival.no = numbers.next();
      arrival.source = names.source;
      arrival.key = wanted.id;
      arrival.id = wanted.id;
      arrival.order_key = wanted.lane;
      arrival.body = wanted.id;
      arrival.targets = std::span(&target, 1);
      admits[i].arrivals = std::span(&arrival, 1);
    }
    for (store::AdmitAnswer& answer : driver.queue->write({.admit = admits}).admit) {
      must(std::move(answer));
    }
  }
}

store::Lease lease(const store::Driver& driver, std::size_t max, std::chrono::milliseconds length,
                   std::int64_t owner) {
  store::LeaseRequest request;
  request.from = ids_of(driver).destination;
  request.max = max;
  request.lease = length;
  request.holder = {Holder::Kind::push, owner};
  return must(driver.queue->write({.lease = std::span(&request, 1)}).lease).front();
}

store::Settled settle(const store::Driver& driver, const store::Leased& leased,
                      const HowToSettle& how) {
  const store::Settlement settlement{.which = {leased.event.no, leased.delivery},
                                     .fence = leased.fence,
                                     .disposition = how,
                                     .note = {}};
  return must(driver.queue->write({.settle = std::span(&settlement, 1)}).settle).front();
}

std::uint64_t unfinished(const store::Driver& driver) {
  std::uint64_t count = 0;
  for (const store::DestinationStats& each : must(driver.catalog->stats()).destinations) {
    count += each.pending + each.leased + each.dead;
  }
  return count;
}

}  // namespace hapax::test
