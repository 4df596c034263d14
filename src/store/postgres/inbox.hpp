// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/contract.hpp"
#include "store/postgres/runner.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <set>

namespace hapax::store::postgres {

// The due time at which the lease scan of each destination starts: see hapax._lease_once. Only a
// hint: a full scan runs periodically. Thread-safe.
class LeaseFloors {
 public:
  std::int64_t floor_us(DestinationNo destination, BootTime now);
  void saw(DestinationNo destination, WallTime oldest_due);

 private:
  struct Floor {
    std::int64_t us = 0;
    BootTime looked_at_all{};
  };
  std::mutex mutex_;
  std::map<DestinationNo, Floor> floors_;
};

// The inbox in PostgreSQL: every operation of store/inbox.hpp, and the inbox's part of write() for
// a group of callers. The files beside this one are named after their operations.
class Inbox : public Driver {
 public:
  Result<std::int64_t> number_of(NameKind kind, std::string_view name) override;
  Result<std::vector<KnownName>> names(NameKind kind) override;
  Result<NodeNo> take_node(const Token& owner, std::chrono::milliseconds lease) override;
  Result<void> leave_node(const Token& owner) override;
  Result<StoreSecret> secret(const StoreSecret& proposed) override;
  Result<void> pause(DestinationNo destination, bool paused) override;
  Result<std::vector<DestinationNo>> paused() override;
  Result<std::optional<Record>> record(std::string_view name) override;
  Result<std::vector<Record>> records(std::string_view prefix) override;
  Result<bool> put_record(const Record& record, std::int64_t before) override;
  Result<bool> remove_record(std::string_view name, std::int64_t version) override;

  Result<std::vector<std::optional<EventNo>>> find(std::span<const WantedIdentity> wanted) override;
  Result<EventPage> events(const EventQuery& query) override;
  Result<Lookup<EventDetail>> event(EventNo number) override;
  Result<Lookup<std::string>> body(EventNo number, BodyOf which) override;
  Result<Stats> stats() override;

  Result<Cancelled> cancel(const DeliveryRef& which) override;
  Result<Replayed> replay(const Replay& what) override;
  Result<Replaying> replay_step(const ReplayStep& step) override;
  Result<Swept> sweep(const SweepStep& step) override;
  Result<void> make_ahead() override;
  Result<Released> release_holder(const ReleaseStep& step) override;

  Result<void> note_duplicates(std::span<const DuplicateNote> notes) override;
  Result<std::size_t> add_rejects(const RejectBatch& batch) override;
  Result<RejectPage> rejects(const RejectQuery& query) override;
  Result<std::vector<RejectCounts>> reject_counts() override;
  Result<std::optional<StoredReject>> reject(RejectNo number) override;
  Result<bool> remove_reject(RejectNo number) override;
  Result<void> remove_rejects(std::span<const RejectNo> numbers) override;

  Result<Enqueued> enqueue(const MessageId& id, const Message& message) override;
  Result<Moved> move_messages(std::span<const EventNo> numbers) override;

 protected:
  Inbox(const std::string& url, const OpenOptions& options, Random& random)
      : runner_(url, options, random), random_(random) {}

  // One answer per item, in order.
  std::vector<AdmitAnswer> admit(std::span<const Admit* const> items);
  Result<std::vector<Settled>> settle(std::span<const Settlement* const> items);
  Result<std::vector<Lease>> lease(std::span<const LeaseRequest* const> requests);

  Runner runner_;

 private:
  using Admissions = std::vector<std::vector<Admission>>;
  struct ReleasedPart {
    std::size_t deliveries = 0;
    DeliveryRef last;  // scanned
    bool done = false;
  };
  // Rows scanned by a statement whose condition no index covers, so that it ends in time.
  static constexpr std::int64_t kRowsLookedAt = 2000;

  void admit_or_split(std::span<const Admit* const> items, std::span<AdmitAnswer> answers);
  Result<Admissions> admit_once(std::span<const Admit* const> items);
  Parameters lease_parameters(std::span<const LeaseRequest* const> requests);
  std::int64_t lease_token();
  Result<void> settle_round(std::span<const Settlement* const> items,
                            std::span<const std::size_t> round, std::vector<Settled>& answers);
  Result<QueryResult> run_query(const char* sql, const Parameters& parameters,
                                std::string_view doing, Lost lost = Lost::repeat) {
    return runner_.run(sql, parameters, doing, Form::binary, lost);
  }
  // As run_query(), for a statement that does not set its lock_timeout itself.
  Result<QueryResult> transact(const char* sql, const Parameters& parameters,
                               std::string_view doing, Lost lost = Lost::repeat) {
    return runner_.run(sql, parameters, doing, Form::binary, lost, Patience::in_transaction);
  }
  // Creates the partitions of these numbers, unless this node has ensured them before and `again`
  // is false. Tomorrow's are created by make_ahead(), so that no request waits for them.
  Result<void> ensure_days(std::span<const std::int64_t> numbers, bool again = false);
  // As run_query(), for a statement that stores events with these numbers. A certain refusal means
  // that a number belongs to another event.
  Result<QueryResult> run_query_with_days(std::span<const std::int64_t> numbers, const char* sql,
                                          const Parameters& parameters, std::string_view doing);
  Result<Stats> count_stats();
  std::int64_t name_of(ReplayNo number);
  void add_how(Parameters& parameters, const HowToReplay& how);
  Result<Swept> sweep_part(std::size_t part, const SweepStep& step);
  Result<ReleasedPart> release_part(const ReleaseStep& step, const DeliveryRef& after,
                                    std::size_t most);

  Random& random_;
  LeaseFloors floors_;
  std::atomic<std::size_t> sweep_part_{0};
  std::mutex stats_mutex_;
  std::optional<Stats> stats_;  // cached until stats_until_
  BootTime stats_until_{};
  std::mutex days_mutex_;
  std::set<std::int64_t> days_;
};

}  // namespace hapax::store::postgres
