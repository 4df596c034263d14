// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/driver.hpp"
#include "store/postgres/runner.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <set>

// The contracts of store/ in PostgreSQL. The files beside this one are named after their
// operations.
namespace hapax::store::postgres {

class PostgresClaims final : public Claims {
 public:
  explicit PostgresClaims(Runner& runner) : runner_(runner) {}

  Result<std::vector<Dedup>> dedup(std::span<const DedupItem> items) override;
  Result<Purged> purge(std::size_t limit) override;

 private:
  Runner& runner_;
};

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

class PostgresQueue final : public Queue {
 public:
  PostgresQueue(Runner& runner, Random& random) : runner_(runner), random_(random) {}

  Answers write(const Batch& batch) override;

  Result<Cancelled> cancel(const DeliveryRef& which) override;
  Result<Replayed> replay(const Replay& what) override;
  Result<Replaying> replay_step(const ReplayStep& step) override;

  Result<Released> release_holder(const ReleaseStep& step) override;
  Result<Swept> sweep(const SweepStep& step) override;
  Result<void> make_ahead() override;

  Result<void> note_duplicates(std::span<const DuplicateNote> notes) override;
  Result<Enqueued> enqueue(const MessageId& id, const Message& message) override;
  Result<Moved> move_messages(std::span<const EventNo> numbers) override;

 private:
  using Admissions = std::vector<std::vector<Admission>>;
  struct ReleasedPart {
    std::size_t deliveries = 0;
    DeliveryRef last;  // scanned
    bool done = false;
  };
  // Rows scanned by a statement whose condition no index covers, so that it ends in time.
  static constexpr std::int64_t kRowsLookedAt = 2000;

  // One answer per item, in order.
  std::vector<AdmitAnswer> admit(std::span<const Admit> items);
  Result<std::vector<Settled>> settle(std::span<const Settlement> items);
  Result<std::vector<Lease>> lease(std::span<const LeaseRequest> requests);

  void admit_or_split(std::span<const Admit> items, std::span<AdmitAnswer> answers);
  Result<Admissions> admit_once(std::span<const Admit> items);
  Parameters lease_parameters(std::span<const LeaseRequest> requests);
  std::int64_t lease_token();
  Result<void> settle_round(std::span<const Settlement> items, std::span<const std::size_t> round,
                            std::vector<Settled>& answers);
  // Creates the partitions of these numbers, unless this node has ensured them before and `again`
  // is false. Tomorrow's are created by make_ahead(), so that no request waits for them.
  Result<void> ensure_days(std::span<const std::int64_t> numbers, bool again = false);
  // As Runner::run_query(), for a statement that stores events with these numbers. A certain
  // refusal means that a number belongs to another event.
  Result<QueryResult> run_query_with_days(std::span<const std::int64_t> numbers, const char* sql,
                                          const Parameters& parameters, std::string_view doing);
  std::int64_t name_of(ReplayNo number);
  void add_how(Parameters& parameters, const HowToReplay& how);
  Result<Swept> sweep_part(std::size_t part, const SweepStep& step);
  Result<ReleasedPart> release_part(const ReleaseStep& step, const DeliveryRef& after,
                                    std::size_t most);

  Runner& runner_;
  Random& random_;
  LeaseFloors floors_;
  std::atomic<std::size_t> sweep_part_{0};
  std::mutex days_mutex_;
  std::set<std::int64_t> days_;
};

class PostgresCatalog final : public Catalog {
 public:
  explicit PostgresCatalog(Runner& runner) : runner_(runner) {}

  Result<std::vector<std::optional<EventNo>>> find(std::span<const WantedIdentity> wanted) override;
  Result<EventPage> events(const EventQuery& query) override;
  Result<Lookup<EventDetail>> event(EventNo number) override;
  Result<Lookup<std::string>> body(EventNo number, BodyOf which) override;
  Result<Stats> stats() override;
  // The primary key decides.
  Result<ClaimFaults> claim_faults() override { return ClaimFaults{}; }

  Result<std::int64_t> number_of(NameKind kind, std::string_view name) override;
  Result<std::vector<KnownName>> names(NameKind kind) override;
  Result<void> pause(DestinationNo destination, bool paused) override;
  Result<std::vector<DestinationNo>> paused() override;

 private:
  Result<Stats> count_stats();

  Runner& runner_;
  std::mutex stats_mutex_;
  std::optional<Stats> stats_;  // cached until stats_until_
  BootTime stats_until_{};
};

class PostgresRejects final : public Rejects {
 public:
  explicit PostgresRejects(Runner& runner) : runner_(runner) {}

  Result<std::size_t> add_rejects(const RejectBatch& batch) override;
  Result<RejectPage> rejects(const RejectQuery& query) override;
  Result<std::vector<RejectCounts>> reject_counts() override;
  Result<std::optional<StoredReject>> reject(RejectNo number) override;
  Result<bool> remove_reject(RejectNo number) override;
  Result<void> remove_rejects(std::span<const RejectNo> numbers) override;

 private:
  Runner& runner_;
};

class PostgresNode final : public Node {
 public:
  explicit PostgresNode(Runner& runner) : runner_(runner) {}

  Result<NodeNo> take_node(const Token& owner, std::chrono::milliseconds lease) override;
  Result<void> leave_node(const Token& owner) override;
  Result<StoreSecret> secret(const StoreSecret& proposed) override;
  Result<std::optional<Record>> record(std::string_view name) override;
  Result<std::vector<Record>> records(std::string_view prefix) override;
  Result<bool> put_record(const Record& record, std::int64_t before) override;
  Result<bool> remove_record(std::string_view name, std::int64_t version) override;

 private:
  Runner& runner_;
};

}  // namespace hapax::store::postgres
