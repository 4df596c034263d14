// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/driver.hpp"

#include <functional>
#include <mutex>
#include <string_view>

// Fault injection: a store that wraps another and fails on purpose.
namespace hapax::store::fault {

enum class Fault : std::uint8_t {
  none,
  fail,          // store_unavailable; it does not happen
  lose_answer,   // it happens, and its outcome is reported as unknown
  lose_request,  // it does not happen, and its outcome is reported as unknown
  crash_before,  // store_unavailable for this and every later call, until restart()
  crash_after,   // as crash_before, but this call happens; its outcome is unknown
};

// Chooses the fault of each call, by the name of the operation ("write", "sweep"). It may block for
// as long as a slow store would. Called under no lock; must be thread-safe.
using Plan = std::function<Fault(std::string_view operation)>;

class FaultyDriver final : public Claims,
                           public Queue,
                           public Catalog,
                           public Rejects,
                           public Node {
 public:
  FaultyDriver(Driver inner, Plan plan) : inner_(std::move(inner)), plan_(std::move(plan)) {}

  // It must outlive the result.
  Driver driver() { return {nullptr, this, this, this, this, this}; }

  // Ends a crash: the store answers again.
  void restart();
  bool crashed() const;

  Result<std::vector<Dedup>> dedup(std::span<const DedupItem> items) override;
  Answers write(const Batch& batch) override;
  Result<Purged> purge(std::size_t limit) override;
  Result<std::int64_t> number_of(NameKind kind, std::string_view name) override;
  Result<std::vector<KnownName>> names(NameKind kind) override;
  Result<NodeNo> take_node(const Token& owner, std::chrono::milliseconds lease) override;
  Result<void> leave_node(const Token& owner) override;
  Result<StoreSecret> secret(const StoreSecret& proposed) override;
  Result<std::vector<std::optional<EventNo>>> find(std::span<const WantedIdentity> wanted) override;
  Result<EventPage> events(const EventQuery& query) override;
  Result<Lookup<EventDetail>> event(EventNo number) override;
  Result<Lookup<std::string>> body(EventNo number, BodyOf which) override;
  Result<Cancelled> cancel(const DeliveryRef& which) override;
  Result<Replayed> replay(const Replay& what) override;
  Result<Replaying> replay_step(const ReplayStep& step) override;
  Result<Swept> sweep(const SweepStep& step) override;
  Result<void> make_ahead() override;
  Result<void> note_duplicates(std::span<const DuplicateNote> notes) override;
  Result<std::size_t> add_rejects(const RejectBatch& batch) override;
  Result<RejectPage> rejects(const RejectQuery& query) override;
  Result<std::vector<RejectCounts>> reject_counts() override;
  Result<std::optional<StoredReject>> reject(RejectNo number) override;
  Result<bool> remove_reject(RejectNo number) override;
  Result<void> remove_rejects(std::span<const RejectNo> numbers) override;
  Result<void> pause(DestinationNo destination, bool paused) override;
  Result<std::vector<DestinationNo>> paused() override;
  Result<Enqueued> enqueue(const MessageId& id, const Message& message) override;
  Result<Moved> move_messages(std::span<const EventNo> numbers) override;
  Result<Released> release_holder(const ReleaseStep& step) override;
  Result<std::optional<Record>> record(std::string_view name) override;
  Result<std::vector<Record>> records(std::string_view prefix) override;
  Result<bool> put_record(const Record& record, std::int64_t before) override;
  Result<bool> remove_record(std::string_view name, std::int64_t version) override;
  Result<Stats> stats() override;
  Result<ClaimFaults> claim_faults() override;

 private:
  Fault next(std::string_view operation);
  template <class Call>
  auto through(std::string_view operation, Call call) -> decltype(call());

  Driver inner_;
  Plan plan_;
  mutable std::mutex mutex_;
  bool crashed_ = false;
};

}  // namespace hapax::store::fault
