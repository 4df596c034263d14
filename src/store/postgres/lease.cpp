// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/try.hpp"
#include "store/postgres/contracts.hpp"
#include "store/postgres/inbox_statements.hpp"
#include "store/postgres/rows.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace hapax::store::postgres {

namespace {

constexpr std::chrono::seconds kSlack{5};       // a delivery due this long ago may appear late
constexpr std::chrono::seconds kLookAtAll{10};  // interval of full scans

using Column = std::int64_t (*)(const LeaseRequest&);
constexpr Column kColumns[] = {
    [](const LeaseRequest& each) { return each.from.value(); },
    [](const LeaseRequest& each) { return static_cast<std::int64_t>(each.max); },
    [](const LeaseRequest& each) { return std::int64_t{each.lease.count()}; },
    [](const LeaseRequest& each) { return static_cast<std::int64_t>(each.holder.kind); },
    [](const LeaseRequest& each) { return each.holder.owner; },
    [](const LeaseRequest& each) { return static_cast<std::int64_t>(each.max_abandons); },
    [](const LeaseRequest& each) { return std::int64_t{each.horizon.count()}; },
    [](const LeaseRequest& each) { return std::int64_t{each.on_dead == OnDead::block}; },
};

// Columns of hapax._lease_once.
enum At {
  at_request,
  at_place,
  at_passed,
  at_due,
  at_delivery,
  at_fence,
  at_attempts,
  at_abandons,
  at_until,
  at_replay_of,
  at_event_no,
  at_source,
  at_tenant,
  at_id,
  at_type,
  at_headers,
  at_body_bytes,
  at_received_at,
  at_would
};

Leased leased_of(const Row& row) {
  const std::optional<std::int64_t> replay_of = row.number_or_none(at_replay_of);
  return {row.no<DeliveryNo>(at_delivery),
          row.no<Fence>(at_fence),
          static_cast<unsigned>(row.number(at_attempts)) + 1,
          static_cast<unsigned>(row.number(at_abandons)),
          row.time(at_until),
          replay_of ? std::optional(DeliveryNo(*replay_of)) : std::nullopt,
          {row.no<EventNo>(at_event_no), row.no<SourceNo>(at_source), row.bytes(at_tenant),
           row.bytes(at_id), row.bytes(at_type), row.bytes(at_headers), row.bytes(at_body_bytes),
           row.time(at_received_at), static_cast<Would>(row.number(at_would))}};
}

}  // namespace

std::int64_t LeaseFloors::floor_us(DestinationNo destination, BootTime now) {
  const std::lock_guard lock(mutex_);
  const auto [place, fresh] = floors_.try_emplace(destination, Floor{0, now});
  Floor& floor = place->second;
  if (fresh || now - floor.looked_at_all < kLookAtAll) return floor.us;
  floor.looked_at_all = now;
  return 0;
}

void LeaseFloors::saw(DestinationNo destination, WallTime oldest_due) {
  const std::lock_guard lock(mutex_);
  floors_[destination].us =
      std::chrono::microseconds(oldest_due.time_since_epoch() - kSlack).count();
}

Parameters PostgresQueue::lease_parameters(std::span<const LeaseRequest> requests) {
  Parameters parameters;
  parameters.add_number(runner_.patience_ms());
  std::vector<std::int64_t> column(requests.size());
  for (const Column value : kColumns) {
    std::transform(requests.begin(), requests.end(), column.begin(),
                   [&](const LeaseRequest& each) { return value(each); });
    parameters.add_number_array(column);
  }
  std::transform(requests.begin(), requests.end(), column.begin(), [&](const LeaseRequest& each) {
    return floors_.floor_us(each.from, runner_.since_boot());
  });
  parameters.add_number_array(column);
  parameters.add_number(kMaxSuperseded);
  parameters.add_number(kMaxLeaseBytes);
  parameters.add_time(runner_.moment());
  return parameters;
}

// Random except for the last 8 bits, which count lost answers: see hapax._lease_once. A Runner
// gives up long before they overflow.
std::int64_t PostgresQueue::lease_token() {
  std::array<unsigned char, sizeof(std::int64_t)> token{};
  random_.fill(token);
  return std::bit_cast<std::int64_t>(token) & ~std::int64_t{0xff};
}

Result<std::vector<Lease>> PostgresQueue::lease(std::span<const LeaseRequest> requests) {
  const Parameters common = lease_parameters(requests);
  const std::int64_t token = lease_token();
  const auto numbered = [&](int losses) {
    Parameters parameters = common;
    parameters.add_number(token + losses);
    parameters.add_number_or_null(losses > 0 ? std::optional(runner_.longest_ms()) : std::nullopt);
    return parameters;
  };
  HAPAX_TRY_ASSIGN(answer, runner_.run(kLease, numbered(0), "lease deliveries", Form::binary,
                                       Lost::repeat, Patience::in_statement, numbered));

  std::vector<int> order(static_cast<std::size_t>(answer.rows()));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  const auto key = [&](int row) {
    return std::pair(Row(answer, row).number(at_request), Row(answer, row).number(at_place));
  };
  std::sort(order.begin(), order.end(), [&](int a, int b) { return key(a) < key(b); });
  std::vector<Lease> leases(requests.size());
  for (const int each : order) {
    const Row row(answer, each);
    const auto request = static_cast<std::size_t>(row.number(at_request) - 1);
    if (request >= leases.size()) continue;
    if (row.is_null(at_delivery)) {
      leases[request].passed = static_cast<std::size_t>(row.number(at_passed));
      floors_.saw(requests[request].from, row.time(at_due));
    } else {
      leases[request].deliveries.push_back(leased_of(row));
    }
  }
  return leases;
}

}  // namespace hapax::store::postgres
