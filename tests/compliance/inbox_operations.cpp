// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// Generates the random operations. Their distribution decides what the model test finds: ids, lanes
// and bodies come from small pools, so that they collide; time advances in steps of which leases,
// retries and periods are multiples, so that expiries coincide.
#include "compliance/inbox_model.hpp"

namespace hapax::test {

namespace {

const std::vector<std::string> kTenants{"", "t"};
const std::vector<std::string> kOrderKeys{"", "k", "l", std::string(300, 'm')};
const std::vector<std::string> kBodies{"one", "two", ""};
const std::vector<milliseconds> kRemember{minutes(1), hours(1), hours(48)};
const std::vector<milliseconds> kDelays{milliseconds(0), seconds(1), seconds(30), minutes(10)};
const std::vector<milliseconds> kLeases{seconds(1), seconds(30), minutes(10)};
const std::vector<milliseconds> kKeeps{milliseconds(0), minutes(10), hours(1), hours(30)};
constexpr std::size_t kRepeatable = 8;  // admits that may be repeated
constexpr std::uint64_t kIds = 150;     // of each source and tenant

MessageId made_up_message(std::uint64_t number) {
  MessageId id;
  id.bytes.fill(1);
  for (std::size_t i = 0; i < 8; ++i, number >>= 8) {
    id.bytes[i] = static_cast<unsigned char>(number & 0xff);
  }
  return id;
}

}  // namespace

const std::vector<std::string>& OperationSource::sources() {
  static const std::vector<std::string> names{"x", "y", std::string(kOutboxSource)};
  return names;
}

const std::vector<std::string>& OperationSource::destinations() {
  static const std::vector<std::string> names{"one", "two", "three", "dev"};
  return names;
}

EventNo OperationSource::some_event(const Known& known) {
  if (known.events.empty() || chance(2)) return EventNo(last_number_ + 1000);
  // Mostly recent events.
  const std::size_t size = known.events.size();
  const std::size_t window = chance(80) ? std::min<std::size_t>(size, 40) : size;
  return known.events[size - 1 - random_.below(window)];
}

Incoming OperationSource::arrival(const Known& known) {
  Incoming made;
  // Occasionally the number of another event that certainly still exists.
  const bool there = !known.events.empty() && known.events.back().value() > last_swept_;
  made.no = there && chance(1) ? known.events.back() : new_number();
  made.id = std::to_string(random_.below(kIds));
  made.keyless = chance(5);
  made.source = sources()[random_.below(2)];
  made.tenant = one_of(kTenants);
  made.body = one_of(kBodies);
  made.order_key = one_of(kOrderKeys);
  if (chance(75)) made.version = static_cast<std::int64_t>(random_.below(8)) - 2;
  made.remember = one_of(kRemember);
  made.to.clear();
  for (std::size_t i = 0; i < 3; ++i) {
    if (chance(60)) made.to.push_back(destinations()[i]);
  }
  if (chance(20)) made.listen = {destinations().back()};
  made.type = chance(50) ? "paid" : "";
  made.headers = chance(50) ? "headers" : "";
  return made;
}

AdmitOp OperationSource::admit(const Known& known) {
  if (!admitted_.empty() && chance(5)) return one_of(admitted_);
  AdmitOp made;
  const std::size_t arrivals = chance(80) ? 1 : 1 + random_.below(4);
  for (std::size_t i = 0; i < arrivals; ++i) {
    made.arrivals.push_back(arrival(known));
    // The layer above the store rejects a repeated number in one request.
    if (i > 0) made.arrivals.back().no = new_number();
  }
  if (chance(5)) made.would = chance(50) ? Would::reject : Would::duplicate;
  made.guard = !chance(10);
  admitted_.push_back(made);
  if (admitted_.size() > kRepeatable) admitted_.erase(admitted_.begin());
  return made;
}

LeaseOp OperationSource::lease() {
  LeaseOp made;
  made.destination = one_of(destinations());
  made.how.max = 1 + random_.below(6);
  made.how.lease = one_of(kLeases);
  made.how.holder.kind = static_cast<Holder::Kind>(random_.below(3));
  made.how.holder.owner = static_cast<std::int64_t>(1 + random_.below(2));
  made.how.max_abandons = static_cast<unsigned>(random_.below(4));
  if (chance(20)) made.how.horizon = minutes(30);
  if (chance(30)) made.how.on_dead = OnDead::block;
  return made;
}

Disposition OperationSource::disposition() {
  const std::uint64_t drawn = random_.below(100);
  if (drawn < 45) return Ack{};
  if (drawn < 65) return RetryIn{one_of(kDelays), chance(80)};
  if (drawn < 72) return Drop{};
  if (drawn < 84) {
    const EndReason reason = chance(80) ? EndReason::exhausted : EndReason::horizon;
    return Dead{reason, chance(40) ? OnDead::block : OnDead::skip};
  }
  if (drawn < 92) return Renew{one_of(kLeases)};
  return Release{.sent = chance(50)};
}

SettleOp OperationSource::settle(const Known& known) {
  SettleOp made;
  const std::size_t size = known.leases.size();
  const std::size_t window = chance(90) ? std::min<std::size_t>(size, 5) : size;
  made.lease = size - 1 - random_.below(window);
  made.other = random_.below(size);
  if (chance(8)) made.with = SettleOp::With::another_fence;
  if (chance(4)) made.with = SettleOp::With::guessed_fence;
  if (chance(1)) made.with = SettleOp::With::nothing;
  made.disposition = disposition();
  made.status = static_cast<int>(200 + random_.below(400));
  return made;
}

WriteOp OperationSource::write(const Known& known) {
  WriteOp made;
  const std::uint64_t drawn = random_.below(100);
  const bool mixed = drawn < 15;
  if (!known.leases.empty() && (mixed || drawn < 45)) {
    const std::uint64_t count = 1 + random_.below(3);
    for (std::uint64_t i = 0; i < count; ++i) made.settle.push_back(settle(known));
  }
  if (mixed || (drawn >= 45 && drawn < 72)) {
    made.admit.push_back(admit(known));
    while (chance(25)) made.admit.push_back(admit(known));
  }
  if (mixed || drawn >= 72) {
    made.lease.push_back(lease());
    if (chance(20)) made.lease.push_back(lease());
  }
  return made;
}

ReplayOp OperationSource::replay(const Known& known) {
  ReplayOp made;
  made.what.event = some_event(known);
  if (chance(40)) made.what.delivery = DeliveryNo(static_cast<std::int64_t>(1 + random_.below(5)));
  if (chance(30)) made.destination = one_of(destinations());
  HowToReplay& how = made.what.how;
  how.as = chance(70) ? ReplayAs::same : ReplayAs::as_new;
  how.accept_duplicate = chance(40);
  if (chance(40)) how.no = ReplayNo(chance(60) ? ++last_replay_ : last_replay_);
  return made;
}

ReplayManyOp OperationSource::replay_many() {
  ReplayManyOp made;
  made.how.as = chance(80) ? ReplayAs::same : ReplayAs::as_new;
  if (chance(80)) made.how.no = ReplayNo(++last_replay_);
  made.status = chance(50) ? DeliveryState::dead : DeliveryState::cancelled;
  if (chance(50)) made.source = one_of(sources());
  made.limit = 1 + random_.below(20);
  return made;
}

PassOp OperationSource::pass() {
  const std::uint64_t drawn = random_.below(100);
  PassOp made;
  made.by = drawn < 40   ? milliseconds(random_.below(2000))
            : drawn < 75 ? seconds(30)
            : drawn < 93 ? minutes(10)
            : drawn < 99 ? milliseconds(hours(1))
                         : milliseconds(hours(25));
  // Only forwards: a jump back loses a SQLite store the time since its last record
  // (store_time_test.cpp).
  if (chance(3)) made.jump = hours(1);
  return made;
}

MessageOp OperationSource::message() {
  MessageOp made;
  made.id = made_up_message(random_.below(1000));
  made.destination = destinations()[random_.below(2)];
  made.key = std::to_string(random_.below(20));
  made.order_key = one_of(kOrderKeys);
  made.payload = one_of(kBodies);
  return made;
}

Operation OperationSource::rare(const Known& known) {
  switch (random_.below(10)) {
    case 0:
      return RestartOp{};
    case 1:
      return NoteOp{some_event(known), random_.below(5), chance(50) ? one_of(kBodies) : ""};
    case 2:
      return RejectOp{RejectNo(static_cast<std::int64_t>(1 + random_.below(40))),
                      sources()[random_.below(2)], chance(30)};
    case 3:
      return PauseOp{one_of(destinations()), chance(30)};
    case 4:
      return message();
    case 5: {
      MoveOp made;
      for (std::uint64_t i = random_.below(5); i > 0; --i) made.numbers.push_back(new_number());
      return made;
    }
    case 6: {
      ReleaseOp made;
      made.step.kind = static_cast<Holder::Kind>(random_.below(3));
      if (chance(70)) made.step.owner = static_cast<std::int64_t>(1 + random_.below(2));
      return made;
    }
    case 7:
      return NodeOp{static_cast<unsigned char>(1 + random_.below(5)), chance(20), minutes(10)};
    case 8:
      return replay_many();
    default:
      last_swept_ = last_number_;
      admitted_.clear();
      return SweepOp{one_of(kKeeps), one_of(kKeeps), 1 + random_.below(100)};
  }
}

Operation OperationSource::next(const Known& known) {
  const std::uint64_t drawn = random_.below(100);
  if (drawn < 60) return write(known);
  if (drawn < 74) return pass();
  if (drawn < 78) {
    return CancelOp{
        {some_event(known), DeliveryNo(static_cast<std::int64_t>(1 + random_.below(4)))}};
  }
  if (drawn < 84) return replay(known);
  if (drawn < 92) return rare(known);
  ReadOp made;
  made.event = some_event(known);
  made.source = one_of(sources());
  made.id = std::to_string(random_.below(kIds));
  if (chance(70)) made.status = static_cast<DeliveryState>(random_.below(6));
  made.page = 1 + random_.below(30);
  return made;
}

}  // namespace hapax::test
