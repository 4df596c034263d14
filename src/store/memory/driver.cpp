// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/memory/driver.hpp"

#include "base/claim_key.hpp"
#include "base/try.hpp"
#include "model/message.hpp"
#include "store/memory/admit.hpp"
#include "store/memory/claims.hpp"
#include "store/memory/queue.hpp"
#include "store/memory/read.hpp"
#include "store/memory/registry.hpp"
#include "store/memory/rejects.hpp"
#include "store/memory/replay.hpp"
#include "store/memory/retention.hpp"

#include <mutex>

namespace hapax::store::memory {

namespace {

// Every call holds one lock: data that it has read cannot change before it writes.
class MemoryStore final : public Claims,
                          public Queue,
                          public Catalog,
                          public Rejects,
                          public store::Node {
 public:
  MemoryStore(std::size_t max_ids, Clock& clock, std::size_t max_bytes)
      : room_{max_ids, max_bytes},
        clock_(clock),
        start_(clock.wall()),
        boot_(clock.since_boot()),
        claims_(max_ids) {}

  Answers write(const Batch& batch) override {
    const std::lock_guard lock(mutex_);
    const std::int64_t now = now_ms();
    Answers answers;
    for (const Settlement& each : batch.settle) {
      answers.settle->push_back(settle(tables_, each, now));
    }
    for (const Admit& each : batch.admit) {
      answers.admit.push_back(admit(tables_, each, room_, now));
    }
    for (const LeaseRequest& each : batch.lease) {
      answers.lease->push_back(lease(tables_, each, now));
    }
    return answers;
  }

  Result<std::vector<Dedup>> dedup(std::span<const DedupItem> items) override {
    const std::lock_guard lock(mutex_);
    return claims_.dedup(items, now_ms());
  }
  Result<Purged> purge(std::size_t limit) override {
    const std::lock_guard lock(mutex_);
    return claims_.purge(limit, now_ms());
  }

  Result<std::int64_t> number_of(NameKind kind, std::string_view name) override {
    const std::lock_guard lock(mutex_);
    return memory::number_of(tables_, kind, name);
  }
  Result<std::vector<KnownName>> names(NameKind kind) override {
    const std::lock_guard lock(mutex_);
    return memory::names(tables_, kind);
  }
  Result<NodeNo> take_node(const Token& owner, std::chrono::milliseconds lease) override {
    const std::lock_guard lock(mutex_);
    return memory::take_node(tables_, owner, lease, now_ms());
  }
  Result<void> leave_node(const Token& owner) override {
    const std::lock_guard lock(mutex_);
    memory::leave_node(tables_, owner, now_ms());
    return {};
  }
  Result<StoreSecret> secret(const StoreSecret& proposed) override {
    const std::lock_guard lock(mutex_);
    if (!tables_.secret) tables_.secret = proposed;
    return *tables_.secret;
  }

  Result<std::vector<std::optional<EventNo>>> find(
      std::span<const WantedIdentity> wanted) override {
    const std::lock_guard lock(mutex_);
    return memory::find(tables_, wanted, now_ms());
  }
  Result<EventPage> events(const EventQuery& query) override {
    const std::lock_guard lock(mutex_);
    return memory::events(tables_, query, now_ms());
  }
  Result<Lookup<EventDetail>> event(EventNo number) override {
    const std::lock_guard lock(mutex_);
    return memory::event(tables_, number, now_ms());
  }
  Result<Lookup<std::string>> body(EventNo number, BodyOf which) override {
    const std::lock_guard lock(mutex_);
    return memory::body(tables_, number, which);
  }

  Result<Cancelled> cancel(const DeliveryRef& which) override {
    const std::lock_guard lock(mutex_);
    return memory::cancel(tables_, which, now_ms());
  }
  Result<Replayed> replay(const Replay& what) override {
    const std::lock_guard lock(mutex_);
    return memory::replay(tables_, what, now_ms());
  }
  Result<Replaying> replay_step(const ReplayStep& step) override {
    const std::lock_guard lock(mutex_);
    return memory::replay_step(tables_, step, now_ms());
  }

  Result<Swept> sweep(const SweepStep& step) override {
    const std::lock_guard lock(mutex_);
    return memory::sweep(tables_, step, now_ms());
  }

  Result<void> make_ahead() override { return {}; }

  Result<void> note_duplicates(std::span<const DuplicateNote> notes) override {
    const std::lock_guard lock(mutex_);
    for (const DuplicateNote& each : notes) note_duplicate(tables_, each);
    return {};
  }

  Result<std::size_t> add_rejects(const RejectBatch& batch) override {
    const std::lock_guard lock(mutex_);
    return memory::add_rejects(tables_, batch);
  }
  Result<RejectPage> rejects(const RejectQuery& query) override {
    const std::lock_guard lock(mutex_);
    return memory::rejects(tables_, query);
  }
  Result<std::vector<RejectCounts>> reject_counts() override {
    const std::lock_guard lock(mutex_);
    return memory::reject_counts(tables_);
  }
  Result<std::optional<StoredReject>> reject(RejectNo number) override {
    const std::lock_guard lock(mutex_);
    const auto found = tables_.rejects.find(number);
    if (found == tables_.rejects.end()) return std::optional<StoredReject>();
    return std::optional(found->second);
  }
  Result<bool> remove_reject(RejectNo number) override {
    const std::lock_guard lock(mutex_);
    return tables_.rejects.erase(number) == 1;
  }
  Result<void> remove_rejects(std::span<const RejectNo> numbers) override {
    const std::lock_guard lock(mutex_);
    for (const RejectNo each : numbers) tables_.rejects.erase(each);
    return {};
  }

  Result<void> pause(DestinationNo destination, bool paused) override {
    const std::lock_guard lock(mutex_);
    if (paused) {
      tables_.paused.insert(destination);
    } else {
      tables_.paused.erase(destination);
    }
    return {};
  }
  Result<std::vector<DestinationNo>> paused() override {
    const std::lock_guard lock(mutex_);
    return std::vector<DestinationNo>(tables_.paused.begin(), tables_.paused.end());
  }

  Result<Enqueued> enqueue(const MessageId& id, const Message& message) override {
    const std::lock_guard lock(mutex_);
    const std::string headers = encode_headers(message);
    const std::size_t size = message.payload.size() + headers.size();
    if (tables_.bytes + size > room_.bytes) {
      return Error(Code::store_full, "the memory store has no room for this message");
    }
    if (!message.key.empty()) {
      HAPAX_TRY_ASSIGN(first, claim_message(id, message, headers));
      if (first) return *first;
    }
    tables_.bytes += size;
    tables_.messages.push_back({id, std::string(message.destination),
                                std::string(message.order_key), headers,
                                std::string(message.payload)});
    return Enqueued{id, false};
  }
  Result<Moved> move_messages(std::span<const EventNo> numbers) override {
    const std::lock_guard lock(mutex_);
    return memory::move_messages(tables_, numbers, now_ms());
  }

  Result<Released> release_holder(const ReleaseStep& step) override {
    const std::lock_guard lock(mutex_);
    return memory::release_holder(tables_, step, now_ms());
  }

  Result<std::optional<Record>> record(std::string_view name) override {
    const std::lock_guard lock(mutex_);
    const auto found = tables_.records.find(name);
    if (found == tables_.records.end()) return std::optional<Record>();
    return std::optional(found->second);
  }
  Result<std::vector<Record>> records(std::string_view prefix) override {
    const std::lock_guard lock(mutex_);
    return memory::records(tables_, prefix);
  }
  Result<bool> put_record(const Record& record, std::int64_t before) override {
    const std::lock_guard lock(mutex_);
    return memory::put_record(tables_, record, before);
  }
  Result<bool> remove_record(std::string_view name, std::int64_t version) override {
    const std::lock_guard lock(mutex_);
    return memory::remove_record(tables_, name, version);
  }

  Result<Stats> stats() override {
    const std::lock_guard lock(mutex_);
    return memory::stats(tables_, now_ms());
  }
  Result<ClaimFaults> claim_faults() override { return ClaimFaults{}; }

 private:
  // The answer for a key that is already claimed; nullopt if the message must be stored.
  Result<std::optional<Enqueued>> claim_message(const MessageId& id, const Message& message,
                                                const std::string& headers) {
    const DedupItem item{claim_key(ClaimKind::message, message.destination, message.key),
                         Token{id.bytes}, kDefaultTtl};
    const Digest digest = content_digest(message, headers);
    HAPAX_TRY_ASSIGN(claim, claims_.claim_with(item, std::string(hapax::view(digest)), now_ms()));
    if (claim.made) return std::optional<Enqueued>();
    if (claim.result != hapax::view(digest)) {
      return Error(Code::key_reused, "this key was used for a message with other content");
    }
    return std::optional(Enqueued{MessageId{claim.token.bytes}, claim.token != item.token});
  }

  // Calendar time at the start, then the boot clock: a wall clock that jumps expires no claim.
  std::int64_t now_ms() const {
    const auto now = start_.time_since_epoch() + (clock_.since_boot() - boot_);
    return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  }

  const Room room_;
  const Clock& clock_;
  const WallTime start_;
  const BootTime boot_;
  std::mutex mutex_;
  ClaimTable claims_;
  Tables tables_;
};

}  // namespace

Driver make_driver(std::size_t max_ids, Clock& clock, std::size_t max_bytes) {
  const auto made = std::make_shared<MemoryStore>(max_ids, clock, max_bytes);
  MemoryStore* const store = made.get();
  return {made, store, store, store, store, store};
}

}  // namespace hapax::store::memory
