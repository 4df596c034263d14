// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/inbox.hpp"

#include "base/claim_key.hpp"
#include "store/contract.hpp"

namespace hapax::store {

namespace {

Error no_inbox() {
  return Error(Code::misconfigured,
               "this store has no inbox; use sqlite:PATH or postgres://USER@HOST/DATABASE");
}

// The source number has a fixed width, so that it cannot run into the tenant.
std::string group_of(SourceNo source, std::string_view tenant) {
  std::string group;
  for (int shift = 24; shift >= 0; shift -= 8) {
    group += static_cast<char>(source.value() >> shift & 0xff);
  }
  group += tenant;
  return group;
}

}  // namespace

std::string event_claim_key(SourceNo source, std::string_view tenant, std::string_view key) {
  return claim_key(ClaimKind::event, group_of(source, tenant), key);
}

std::string lane_key(SourceNo source, std::string_view tenant, std::string_view order_key) {
  return claim_key(ClaimKind::lane, group_of(source, tenant), order_key);
}

std::optional<AttemptOutcome> outcome_of(const Disposition& disposition) {
  struct Visitor {
    using Answer = std::optional<AttemptOutcome>;
    Answer operator()(const Ack&) const { return AttemptOutcome::completed; }
    Answer operator()(const RetryIn&) const { return AttemptOutcome::retried; }
    Answer operator()(const Drop&) const { return AttemptOutcome::dropped; }
    Answer operator()(const Dead&) const { return AttemptOutcome::dead; }
    Answer operator()(const Release&) const { return AttemptOutcome::released; }
    Answer operator()(const Renew&) const { return std::nullopt; }
  };
  return std::visit(Visitor{}, disposition);
}

Error no_room_for_records() {
  return Error(Code::store_full, "the store is limited to " + std::to_string(kMaxRecords) +
                                     " records; end replays or listeners");
}

std::size_t size_of(const Batch& batch) {
  std::size_t size = batch.settle.size() + batch.dedup.size();
  for (const Admit& each : batch.admit) size += each.arrivals.size();
  for (const LeaseRequest& each : batch.lease) size += each.max;
  return size;
}

Result<std::int64_t> InboxOperations::number_of(NameKind, std::string_view) {
  return no_inbox();
}
Result<std::vector<KnownName>> InboxOperations::names(NameKind) {
  return no_inbox();
}
Result<NodeNo> InboxOperations::take_node(const Token&, std::chrono::milliseconds) {
  return no_inbox();
}
Result<void> InboxOperations::leave_node(const Token&) {
  return no_inbox();
}
Result<StoreSecret> InboxOperations::secret(const StoreSecret&) {
  return no_inbox();
}
Result<std::vector<std::optional<EventNo>>> InboxOperations::find(std::span<const WantedIdentity>) {
  return no_inbox();
}
Result<EventPage> InboxOperations::events(const EventQuery&) {
  return no_inbox();
}
Result<Lookup<EventDetail>> InboxOperations::event(EventNo) {
  return no_inbox();
}
Result<Lookup<std::string>> InboxOperations::body(EventNo, BodyOf) {
  return no_inbox();
}
Result<Cancelled> InboxOperations::cancel(const DeliveryRef&) {
  return no_inbox();
}
Result<Replayed> InboxOperations::replay(const Replay&) {
  return no_inbox();
}
Result<Replaying> InboxOperations::replay_step(const ReplayStep&) {
  return no_inbox();
}
Result<void> InboxOperations::make_ahead() {
  return {};
}
Result<Swept> InboxOperations::sweep(const SweepStep&) {
  return no_inbox();
}
Result<void> InboxOperations::note_duplicates(std::span<const DuplicateNote>) {
  return no_inbox();
}
Result<std::size_t> InboxOperations::add_rejects(const RejectBatch&) {
  return no_inbox();
}
Result<RejectPage> InboxOperations::rejects(const RejectQuery&) {
  return no_inbox();
}
Result<std::vector<RejectCounts>> InboxOperations::reject_counts() {
  return no_inbox();
}
Result<std::optional<StoredReject>> InboxOperations::reject(RejectNo) {
  return no_inbox();
}
Result<bool> InboxOperations::remove_reject(RejectNo) {
  return no_inbox();
}
Result<void> InboxOperations::remove_rejects(std::span<const RejectNo>) {
  return no_inbox();
}
Result<void> InboxOperations::pause(DestinationNo, bool) {
  return no_inbox();
}
Result<std::vector<DestinationNo>> InboxOperations::paused() {
  return no_inbox();
}
Result<Enqueued> InboxOperations::enqueue(const MessageId&, const Message&) {
  return no_inbox();
}
Result<Moved> InboxOperations::move_messages(std::span<const EventNo>) {
  return no_inbox();
}
Result<Released> InboxOperations::release_holder(const ReleaseStep&) {
  return no_inbox();
}
Result<std::optional<Record>> InboxOperations::record(std::string_view) {
  return no_inbox();
}
Result<std::vector<Record>> InboxOperations::records(std::string_view) {
  return no_inbox();
}
Result<bool> InboxOperations::put_record(const Record&, std::int64_t) {
  return no_inbox();
}
Result<bool> InboxOperations::remove_record(std::string_view, std::int64_t) {
  return no_inbox();
}
Result<Stats> InboxOperations::stats() {
  return no_inbox();
}
Result<ClaimFaults> InboxOperations::claim_faults() {
  return ClaimFaults{};
}

}  // namespace hapax::store
