// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "support/faulty_driver.hpp"

#include <utility>

namespace hapax::store::fault {

namespace {

bool happens(Fault fault) {
  return fault == Fault::none || fault == Fault::lose_answer || fault == Fault::crash_after;
}

Error error_of(Fault fault) {
  const bool clear = fault == Fault::fail || fault == Fault::crash_before;
  if (clear) return Error(Code::store_unavailable, "the store was made to fail");
  return Error(Code::outcome_unknown, "the store's answer was made to get lost");
}

}  // namespace

void FaultyDriver::restart() {
  const std::lock_guard lock(mutex_);
  crashed_ = false;
}

bool FaultyDriver::crashed() const {
  const std::lock_guard lock(mutex_);
  return crashed_;
}

Fault FaultyDriver::next(std::string_view operation) {
  if (crashed()) return Fault::fail;
  const Fault fault = plan_(operation);
  if (fault == Fault::crash_before || fault == Fault::crash_after) {
    const std::lock_guard lock(mutex_);
    crashed_ = true;
  }
  return fault;
}

template <class Call>
auto FaultyDriver::through(std::string_view operation, Call call) -> decltype(call()) {
  const Fault fault = next(operation);
  if (fault == Fault::none) return call();
  if (happens(fault)) static_cast<void>(call());
  return error_of(fault);
}

Answers FaultyDriver::write(const Batch& batch) {
  const Fault fault = next("write");
  if (fault == Fault::none) return inner_.queue->write(batch);
  if (happens(fault)) static_cast<void>(inner_.queue->write(batch));
  return failed(batch, error_of(fault));
}

Result<std::vector<Dedup>> FaultyDriver::dedup(std::span<const DedupItem> items) {
  return through("dedup", [&] { return inner_.claims->dedup(items); });
}

Result<Purged> FaultyDriver::purge(std::size_t limit) {
  return through("purge", [&] { return inner_.claims->purge(limit); });
}

Result<std::int64_t> FaultyDriver::number_of(NameKind kind, std::string_view name) {
  return through("number_of", [&] { return inner_.catalog->number_of(kind, name); });
}

Result<std::vector<KnownName>> FaultyDriver::names(NameKind kind) {
  return through("names", [&] { return inner_.catalog->names(kind); });
}

Result<NodeNo> FaultyDriver::take_node(const Token& owner, std::chrono::milliseconds lease) {
  return through("take_node", [&] { return inner_.node->take_node(owner, lease); });
}

Result<void> FaultyDriver::leave_node(const Token& owner) {
  return through("leave_node", [&] { return inner_.node->leave_node(owner); });
}

Result<StoreSecret> FaultyDriver::secret(const StoreSecret& proposed) {
  return through("secret", [&] { return inner_.node->secret(proposed); });
}

Result<std::vector<std::optional<EventNo>>> FaultyDriver::find(
    std::span<const WantedIdentity> wanted) {
  return through("find", [&] { return inner_.catalog->find(wanted); });
}

Result<EventPage> FaultyDriver::events(const EventQuery& query) {
  return through("events", [&] { return inner_.catalog->events(query); });
}

Result<Lookup<EventDetail>> FaultyDriver::event(EventNo number) {
  return through("event", [&] { return inner_.catalog->event(number); });
}

Result<Lookup<std::string>> FaultyDriver::body(EventNo number, BodyOf which) {
  return through("body", [&] { return inner_.catalog->body(number, which); });
}

Result<Cancelled> FaultyDriver::cancel(const DeliveryRef& which) {
  return through("cancel", [&] { return inner_.queue->cancel(which); });
}

Result<Replayed> FaultyDriver::replay(const Replay& what) {
  return through("replay", [&] { return inner_.queue->replay(what); });
}

Result<Replaying> FaultyDriver::replay_step(const ReplayStep& step) {
  return through("replay_step", [&] { return inner_.queue->replay_step(step); });
}

Result<void> FaultyDriver::make_ahead() {
  return through("make_ahead", [&] { return inner_.queue->make_ahead(); });
}
Result<Swept> FaultyDriver::sweep(const SweepStep& step) {
  return through("sweep", [&] { return inner_.queue->sweep(step); });
}

Result<void> FaultyDriver::note_duplicates(std::span<const DuplicateNote> notes) {
  return through("note_duplicates", [&] { return inner_.queue->note_duplicates(notes); });
}

Result<std::size_t> FaultyDriver::add_rejects(const RejectBatch& batch) {
  return through("add_rejects", [&] { return inner_.rejects->add_rejects(batch); });
}

Result<RejectPage> FaultyDriver::rejects(const RejectQuery& query) {
  return through("rejects", [&] { return inner_.rejects->rejects(query); });
}

Result<std::vector<RejectCounts>> FaultyDriver::reject_counts() {
  return through("reject_counts", [&] { return inner_.rejects->reject_counts(); });
}

Result<std::optional<StoredReject>> FaultyDriver::reject(RejectNo number) {
  return through("reject", [&] { return inner_.rejects->reject(number); });
}

Result<bool> FaultyDriver::remove_reject(RejectNo number) {
  return through("remove_reject", [&] { return inner_.rejects->remove_reject(number); });
}

Result<void> FaultyDriver::remove_rejects(std::span<const RejectNo> numbers) {
  return through("remove_rejects", [&] { return inner_.rejects->remove_rejects(numbers); });
}

Result<void> FaultyDriver::pause(DestinationNo destination, bool paused) {
  return through("pause", [&] { return inner_.catalog->pause(destination, paused); });
}

Result<std::vector<DestinationNo>> FaultyDriver::paused() {
  return through("paused", [&] { return inner_.catalog->paused(); });
}

Result<Enqueued> FaultyDriver::enqueue(const MessageId& id, const Message& message) {
  return through("enqueue", [&] { return inner_.queue->enqueue(id, message); });
}

Result<Moved> FaultyDriver::move_messages(std::span<const EventNo> numbers) {
  return through("move_messages", [&] { return inner_.queue->move_messages(numbers); });
}

Result<Released> FaultyDriver::release_holder(const ReleaseStep& step) {
  return through("release_holder", [&] { return inner_.queue->release_holder(step); });
}

Result<std::optional<Record>> FaultyDriver::record(std::string_view name) {
  return through("record", [&] { return inner_.node->record(name); });
}

Result<std::vector<Record>> FaultyDriver::records(std::string_view prefix) {
  return through("records", [&] { return inner_.node->records(prefix); });
}

Result<bool> FaultyDriver::put_record(const Record& record, std::int64_t before) {
  return through("put_record", [&] { return inner_.node->put_record(record, before); });
}

Result<bool> FaultyDriver::remove_record(std::string_view name, std::int64_t version) {
  return through("remove_record", [&] { return inner_.node->remove_record(name, version); });
}

Result<Stats> FaultyDriver::stats() {
  return through("stats", [&] { return inner_.catalog->stats(); });
}
Result<ClaimFaults> FaultyDriver::claim_faults() {
  return through("claim_faults", [&] { return inner_.catalog->claim_faults(); });
}

}  // namespace hapax::store::fault
