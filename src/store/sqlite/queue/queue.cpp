// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/queue/queue.hpp"

#include "base/try.hpp"
#include "store/sqlite/inbox_statements.hpp"

#include <algorithm>

namespace hapax::store::sqlite {

namespace {

// The bits of the column hapax_queue.flags. kEventIsHeld uses the first one too.
constexpr std::int64_t kListen = 1;
constexpr int kGuardShift = 1;
constexpr std::int64_t kGuardMask = 3;
constexpr std::int64_t kFirstLease = 8;

std::int64_t flags_of(const Delivery& delivery) {
  return (delivery.listen ? kListen : 0) |
         static_cast<std::int64_t>(delivery.guard) << kGuardShift |
         (delivery.first_lease ? kFirstLease : 0);
}

void read_flags(Delivery& delivery, std::int64_t flags) {
  delivery.listen = (flags & kListen) != 0;
  delivery.guard = static_cast<Guard>(flags >> kGuardShift & kGuardMask);
  delivery.first_lease = (flags & kFirstLease) != 0;
}

template <class No>
std::optional<std::int64_t> value_of(const std::optional<No>& number) {
  return number ? std::optional(number->value()) : std::nullopt;
}

Delivery read_completed(EventNo event, const Run& row) {
  Delivery delivery;
  delivery.ref = {event, DeliveryNo(row.number(0))};
  delivery.to = DestinationNo(row.number(1));
  delivery.state = QueueState::completed;
  delivery.due_ms = row.number(2);
  delivery.listen = row.number(3) != 0;
  if (const auto replay_of = row.maybe(4)) {
    delivery.replay_of = DeliveryNo(*replay_of);
    delivery.replay = ReplayNo(row.number(5));
  }
  return delivery;
}

Result<std::vector<Delivery>> read_all(Run& rows) {
  std::vector<Delivery> found;
  for (;;) {
    HAPAX_TRY_ASSIGN(more, rows.step("read deliveries"));
    if (!more) return found;
    found.push_back(read_delivery(rows));
  }
}

void bind_open(Run& row, const Delivery& delivery) {
  row.bind(delivery.ref.event.value()).bind(delivery.ref.delivery.value());
  row.bind(delivery.to.value()).bind(delivery.due_ms).bind(flags_of(delivery));
}

bool by_number(const Delivery& a, const Delivery& b) {
  return a.ref < b.ref;
}

Result<std::optional<Delivery>> read_one(Run& row) {
  HAPAX_TRY_ASSIGN(found, row.step("read a delivery"));
  if (!found) return std::optional<Delivery>();
  return std::optional(read_delivery(row));
}

}  // namespace

Delivery read_delivery(const Run& row) {
  Delivery delivery;
  delivery.ref = {EventNo(row.number(0)), DeliveryNo(row.number(1))};
  delivery.to = DestinationNo(row.number(2));
  delivery.state = static_cast<QueueState>(row.number(3));
  delivery.due_ms = row.number(4);
  delivery.attempts = static_cast<unsigned>(row.number(5));
  delivery.abandons = static_cast<unsigned>(row.number(6));
  read_flags(delivery, row.number(7));
  if (const auto fence = row.maybe(8)) {
    delivery.fence = Fence(*fence);
    delivery.holder = {static_cast<Holder::Kind>(row.number(9)), row.number(10)};
  }
  delivery.first_sent_ms = row.maybe(11);
  if (const std::string_view lane = row.bytes(12); !lane.empty()) {
    delivery.lane = lane;
    delivery.lane_seq = row.number(13);
    delivery.version = row.maybe(14);
  }
  if (const auto replay_of = row.maybe(15)) delivery.replay_of = DeliveryNo(*replay_of);
  delivery.replay = ReplayNo(row.number(16));
  delivery.reason = static_cast<EndReason>(row.number(17));
  return delivery;
}

DeliveryState shown(const Delivery& delivery, std::int64_t now_ms) {
  switch (delivery.state) {
    case QueueState::open:
      return delivery.leased(now_ms) ? DeliveryState::leased : DeliveryState::pending;
    case QueueState::waiting:
      return DeliveryState::pending;
    case QueueState::dead:
    case QueueState::blocking:
      return DeliveryState::dead;
    case QueueState::cancelled:
      return DeliveryState::cancelled;
    case QueueState::superseded:
      return DeliveryState::superseded;
    case QueueState::completed:
      break;
  }
  return DeliveryState::completed;
}

QueueTable::QueueTable(sqlite3* db)
    : read_(db, kReadDelivery),
      all_of_(db, kDeliveriesOf),
      completed_of_(db, kCompletedOf),
      first_waiting_(db, kFirstWaiting),
      due_(db, kDue),
      held_by_(db, kHeldBy),
      insert_open_(db, kInsertOpenDelivery),
      insert_many_open_(db, kInsertOpenDeliveries),
      insert_(db, kInsertDelivery),
      lease_(db, kLease),
      renew_(db, kRenew),
      write_(db, kWriteDelivery),
      remove_(db, kRemoveDelivery) {}

Result<std::optional<Delivery>> QueueTable::read(const DeliveryRef& ref) {
  Run row(read_);
  return read_one(row.bind(ref.event.value()).bind(ref.delivery.value()));
}

Result<std::vector<Delivery>> QueueTable::all_of(EventNo event) {
  Run rows(all_of_);
  HAPAX_TRY_ASSIGN(found, read_all(rows.bind(event.value())));
  const std::size_t queued = found.size();
  Run completed(completed_of_);
  completed.bind(event.value());
  for (;;) {
    HAPAX_TRY_ASSIGN(more, completed.step("read deliveries"));
    if (!more) break;
    Delivery delivery = read_completed(event, completed);
    const auto end = found.begin() + static_cast<std::ptrdiff_t>(queued);
    if (!std::binary_search(found.begin(), end, delivery, by_number)) {
      found.push_back(std::move(delivery));
    }
  }
  std::sort(found.begin(), found.end(), by_number);
  return found;
}

Result<std::optional<Delivery>> QueueTable::first_waiting(DestinationNo to, std::string_view lane) {
  Run row(first_waiting_);
  return read_one(row.bind(to.value()).bind(lane));
}

Result<std::vector<Delivery>> QueueTable::due(DestinationNo from, std::size_t max,
                                              std::int64_t now_ms) {
  Run rows(due_);
  rows.bind(from.value()).bind(now_ms).bind(static_cast<std::int64_t>(max));
  return read_all(rows);
}

Result<std::vector<Delivery>> QueueTable::held_by(const ReleaseStep& step) {
  Run rows(held_by_);
  rows.bind(static_cast<std::int64_t>(step.kind)).bind_maybe(step.owner);
  rows.bind(static_cast<std::int64_t>(step.limit) + 1);  // one more, to detect whether more remain
  return read_all(rows);
}

Result<void> QueueTable::insert(const Delivery& delivery) {
  Run row(insert_);
  bind_open(row, delivery);
  row.bind(static_cast<std::int64_t>(delivery.state));
  delivery.lane.empty() ? row.bind_null() : row.bind(delivery.lane);
  row.bind(delivery.lane_seq).bind_maybe(delivery.version);
  row.bind_maybe(value_of(delivery.replay_of)).bind(delivery.replay.value());
  HAPAX_TRY(row.change("add a delivery"));
  return {};
}

Result<void> QueueTable::insert_open(std::span<const Delivery> deliveries) {
  while (!deliveries.empty()) {
    const bool many = deliveries.size() >= kRowsOfStatement;
    const std::size_t count = many ? kRowsOfStatement : 1;
    Run rows(many ? insert_many_open_ : insert_open_);
    for (const Delivery& each : deliveries.first(count)) bind_open(rows, each);
    HAPAX_TRY(rows.change("add deliveries"));
    deliveries = deliveries.subspan(count);
  }
  return {};
}

Result<void> QueueTable::lease(const Delivery& delivery) {
  Run row(lease_);
  row.bind(delivery.ref.event.value()).bind(delivery.ref.delivery.value()).bind(delivery.due_ms);
  row.bind_maybe(value_of(delivery.fence));
  row.bind(static_cast<std::int64_t>(delivery.holder->kind)).bind(delivery.holder->owner);
  row.bind(std::int64_t{delivery.abandons}).bind(flags_of(delivery));
  row.bind_maybe(delivery.first_sent_ms);
  HAPAX_TRY(row.change("lease a delivery"));
  return {};
}

Result<void> QueueTable::renew(const Delivery& delivery) {
  Run row(renew_);
  row.bind(delivery.ref.event.value()).bind(delivery.ref.delivery.value()).bind(delivery.due_ms);
  HAPAX_TRY(row.change("renew a lease"));
  return {};
}

Result<void> QueueTable::write(const Delivery& delivery) {
  Run row(write_);
  row.bind(delivery.ref.event.value()).bind(delivery.ref.delivery.value());
  row.bind(static_cast<std::int64_t>(delivery.state)).bind(delivery.due_ms);
  row.bind(std::int64_t{delivery.attempts}).bind(std::int64_t{delivery.abandons});
  row.bind(flags_of(delivery)).bind_maybe(delivery.first_sent_ms).bind(delivery.replay.value());
  row.bind(static_cast<std::int64_t>(delivery.reason));
  HAPAX_TRY(row.change("change a delivery"));
  return {};
}

Result<void> QueueTable::remove(const DeliveryRef& ref) {
  Run row(remove_);
  row.bind(ref.event.value()).bind(ref.delivery.value());
  HAPAX_TRY(row.change("complete a delivery"));
  return {};
}

}  // namespace hapax::store::sqlite
