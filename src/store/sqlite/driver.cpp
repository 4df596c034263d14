// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/driver.hpp"

#include "base/try.hpp"
#include "store/group_commit.hpp"
#include "store/sqlite/purge.hpp"
#include "store/sqlite/refusals.hpp"
#include "store/sqlite/schema.hpp"
#include "store/sqlite/writer.hpp"

namespace hapax::store::sqlite {

namespace {

// A job that is not a batch. Its work may run more than once; the last run counts.
struct Task final : Job {
  using Work = std::function<Result<void>(Writer&, std::int64_t now_ms)>;
  Task(std::size_t rows, Work wanted) : Job(rows), work(std::move(wanted)) {}
  Work work;
};

Result<void> run_admit(Writer& writer, const Admit& each, Job& job, std::int64_t now_ms,
                       Refusals& refusals) {
  std::optional<Error> refused;
  HAPAX_TRY_ASSIGN(admitted, writer.inbox().admitter.admit(each, now_ms, refused));
  if (refused) {
    refusals.add(&each, *refused);
    return std::move(*refused);
  }
  job.answers.admit.emplace_back(std::move(admitted));
  return {};
}

Result<void> run_admits(Writer& writer, Job& job, std::int64_t now_ms, Refusals& refusals) {
  job.answers.admit.clear();
  for (const Admit& each : job.batch->admit) {
    if (const Error* known = refusals.of(&each)) {
      job.answers.admit.emplace_back(*known);
    } else {
      HAPAX_TRY(refusals.watch(&each, run_admit(writer, each, job, now_ms, refusals)));
    }
  }
  return writer.inbox().admitter.write_deliveries();
}

// Runs all items of one kind in a batch.
template <class Item, class Answer, class Work>
Result<void> run_kind(std::span<const Item> items, Result<std::vector<Answer>>& answers,
                      Refusals& refusals, const Work& work) {
  if (const Error* known = refusals.of(&answers)) {
    answers = *known;
    return {};
  }
  std::vector<Answer> done;
  for (const Item& each : items) {
    Result<Answer> one = work(each);
    if (!one) return refusals.watch(&answers, std::move(one).error());
    done.push_back(*std::move(one));
  }
  answers = std::move(done);
  return {};
}

Result<void> run_batch(Writer& writer, Job& job, std::int64_t now_ms, Refusals& refusals) {
  const Batch& batch = *job.batch;
  Answers& answers = job.answers;
  Inbox& inbox = writer.inbox();
  const auto settle = [&](const Settlement& each) { return inbox.settler.settle(each, now_ms); };
  HAPAX_TRY(run_kind(batch.settle, answers.settle, refusals, settle));
  HAPAX_TRY(run_admits(writer, job, now_ms, refusals));
  const auto claim = [&](const DedupItem& item) -> Result<Dedup> {
    HAPAX_TRY_ASSIGN(claimed, writer.claims().claim({item.key, item.token, item.ttl}, now_ms));
    return Dedup{.duplicate = !claimed.ours};
  };
  HAPAX_TRY(run_kind(batch.dedup, answers.dedup, refusals, claim));
  const auto lease = [&](const LeaseRequest& each) { return inbox.leaser.lease(each, now_ms); };
  return run_kind(batch.lease, answers.lease, refusals, lease);
}

Result<void> run_task(Writer& writer, Task& task, std::int64_t now_ms, Refusals& refusals) {
  if (refusals.of(&task) != nullptr) return {};
  return refusals.watch(&task, task.work(writer, now_ms));
}

Result<void> run_group(Writer& writer, const std::vector<Job*>& group, Refusals& refusals) {
  HAPAX_TRY_ASSIGN(now_ms, writer.claims().time().now_ms());
  writer.inbox().start(now_ms);
  for (Job* each : group) {
    HAPAX_TRY(each->batch != nullptr
                  ? run_batch(writer, *each, now_ms, refusals)
                  : run_task(writer, static_cast<Task&>(*each), now_ms, refusals));
  }
  return writer.inbox().finish();
}

void fail(Answers& answers, const Batch& batch, const Error& error) {
  answers.settle = error;
  answers.admit.assign(batch.admit.size(), error);
  answers.dedup = error;
  answers.lease = error;
}

class SqliteDriver final : public Driver {
 public:
  explicit SqliteDriver(Writer writer) : writer_(std::move(writer)) {}

  Capabilities capabilities() const override {
    return {Capability::dedup, Capability::inbox, Capability::outbox};
  }

  Answers write(const Batch& batch) override {
    Job job(batch);
    submit(job);
    if (!job.outcome) fail(job.answers, batch, job.outcome.error());
    return std::move(job.answers);
  }

  Result<Purged> purge(std::size_t limit) override {
    return change<Purged>(limit, [&](Writer& writer, std::int64_t now_ms) {
      return purge_step(writer.handle(), now_ms, limit);
    });
  }

  Result<std::int64_t> number_of(NameKind kind, std::string_view name) override {
    return change<std::int64_t>(1, [&](Writer& writer, std::int64_t) {
      return writer.inbox().names.number_of(kind, name);
    });
  }
  Result<std::vector<KnownName>> names(NameKind kind) override {
    return read<std::vector<KnownName>>([&](Reader::View& view) { return view.names.all(kind); });
  }

  Result<NodeNo> take_node(const Token& owner, std::chrono::milliseconds lease) override {
    HAPAX_TRY_ASSIGN(number,
                     change<std::optional<NodeNo>>(1, [&](Writer& writer, std::int64_t now_ms) {
                       return writer.inbox().names.take_node(owner, lease, now_ms);
                     }));
    if (number) return *number;
    return Error(Code::store_full, "all node numbers are taken; stop a node");
  }
  Result<void> leave_node(const Token& owner) override {
    return change(1, [&](Writer& writer, std::int64_t now_ms) {
      return writer.inbox().names.leave_node(owner, now_ms);
    });
  }
  Result<StoreSecret> secret(const StoreSecret& proposed) override {
    return change<StoreSecret>(
        1, [&](Writer& writer, std::int64_t) { return writer.inbox().names.secret(proposed); });
  }

  Result<std::vector<std::optional<EventNo>>> find(
      std::span<const WantedIdentity> wanted) override {
    return read<std::vector<std::optional<EventNo>>>(
        [&](Reader::View& view) { return view.reading.find(wanted, view.now_ms); });
  }
  Result<EventPage> events(const EventQuery& query) override {
    return read<EventPage>(
        [&](Reader::View& view) { return view.reading.listing.page(query, view.now_ms); });
  }
  Result<Lookup<EventDetail>> event(EventNo number) override {
    return read<Lookup<EventDetail>>(
        [&](Reader::View& view) { return view.reading.event(number, view.now_ms); });
  }
  Result<Lookup<std::string>> body(EventNo number, BodyOf which) override {
    return read<Lookup<std::string>>(
        [&](Reader::View& view) { return view.reading.body(number, which); });
  }

  Result<Cancelled> cancel(const DeliveryRef& which) override {
    return change<Cancelled>(1, [&](Writer& writer, std::int64_t now_ms) {
      return writer.inbox().replayer.cancel(which, now_ms);
    });
  }
  Result<Replayed> replay(const Replay& what) override {
    Replay named = what;
    return change<Replayed>(1, [&](Writer& writer, std::int64_t now_ms) -> Result<Replayed> {
      HAPAX_TRY(give_name(writer, named.how));
      return writer.inbox().replayer.replay(named, now_ms);
    });
  }
  Result<Replaying> replay_step(const ReplayStep& step) override {
    HAPAX_TRY_ASSIGN(found, read<Listing::Found>([&](Reader::View& view) {
                       return view.reading.listing.next_of(step, view.now_ms);
                     }));
    Replaying answer{found.events.size(), 0, found.after, found.done};
    if (step.dry || found.events.empty()) return answer;
    ReplayStep named = step;
    const auto replay_all = [&](Writer& writer, std::int64_t now_ms) -> Result<std::size_t> {
      HAPAX_TRY(give_name(writer, named.how));
      return writer.inbox().replayer.replay_all(found.events, named, now_ms);
    };
    HAPAX_TRY_ASSIGN(deliveries, change<std::size_t>(found.events.size(), replay_all));
    answer.deliveries = deliveries;
    return answer;
  }

  Result<Swept> sweep(const SweepStep& step) override {
    return change<Swept>(step.limit, [&](Writer& writer, std::int64_t now_ms) {
      return writer.inbox().retention.sweep(step, now_ms);
    });
  }

  Result<void> note_duplicates(std::span<const DuplicateNote> notes) override {
    return change(notes.size(), [&](Writer& writer, std::int64_t) -> Result<void> {
      for (const DuplicateNote& each : notes) HAPAX_TRY(writer.inbox().notes.note(each));
      return {};
    });
  }

  Result<std::size_t> add_rejects(const RejectBatch& batch) override {
    return change<std::size_t>(batch.rejects.size() + 1, [&](Writer& writer, std::int64_t) {
      return writer.inbox().rejects.add(batch);
    });
  }
  Result<RejectPage> rejects(const RejectQuery& query) override {
    return read<RejectPage>([&](Reader::View& view) { return view.rejects.page(query); });
  }
  Result<std::vector<RejectCounts>> reject_counts() override {
    return read<std::vector<RejectCounts>>(
        [](Reader::View& view) { return view.rejects.counts(); });
  }
  Result<std::optional<StoredReject>> reject(RejectNo number) override {
    return read<std::optional<StoredReject>>(
        [&](Reader::View& view) { return view.rejects.read(number); });
  }
  // A second run, after a failed commit, must not report that the reject was missing.
  Result<bool> remove_reject(RejectNo number) override {
    bool was_there = false;
    HAPAX_TRY(change(1, [&](Writer& writer, std::int64_t) -> Result<void> {
      HAPAX_TRY_ASSIGN(removed, writer.inbox().rejects.remove(number));
      was_there = was_there || removed;
      return {};
    }));
    return was_there;
  }
  Result<void> remove_rejects(std::span<const RejectNo> numbers) override {
    return change(numbers.size(), [&](Writer& writer, std::int64_t) -> Result<void> {
      for (const RejectNo each : numbers) HAPAX_TRY(writer.inbox().rejects.remove(each));
      return {};
    });
  }

  Result<void> pause(DestinationNo destination, bool paused) override {
    return change(1, [&](Writer& writer, std::int64_t) {
      return writer.inbox().names.pause(destination, paused);
    });
  }
  Result<std::vector<DestinationNo>> paused() override {
    return read<std::vector<DestinationNo>>([](Reader::View& view) { return view.names.paused(); });
  }

  Result<Enqueued> enqueue(const MessageId& id, const Message& message) override {
    bool again = false;
    HAPAX_TRY_ASSIGN(enqueued,
                     change<std::optional<Enqueued>>(1, [&](Writer& writer, std::int64_t now_ms) {
                       const bool second_run = std::exchange(again, true);
                       return writer.inbox().messages.enqueue(id, message, now_ms, second_run);
                     }));
    if (enqueued) return *enqueued;
    return Error(Code::key_reused, "this key was used for a message with other content");
  }
  Result<Moved> move_messages(std::span<const EventNo> numbers) override {
    HAPAX_TRY_ASSIGN(moved, change<std::optional<Moved>>(
                                numbers.size(), [&](Writer& writer, std::int64_t now_ms) {
                                  return writer.inbox().messages.move(numbers, now_ms);
                                }));
    if (moved) return *moved;
    return Error(Code::store_busy,
                 "an event number belongs to another event; generate new numbers and retry");
  }

  Result<Released> release_holder(const ReleaseStep& step) override {
    return change<Released>(step.limit, [&](Writer& writer, std::int64_t now_ms) {
      return writer.inbox().leaser.release_holder(step, now_ms);
    });
  }

  Result<std::optional<Record>> record(std::string_view name) override {
    return read<std::optional<Record>>([&](Reader::View& view) { return view.records.read(name); });
  }
  Result<std::vector<Record>> records(std::string_view prefix) override {
    return read<std::vector<Record>>([&](Reader::View& view) { return view.records.all(prefix); });
  }
  Result<bool> put_record(const Record& record, std::int64_t before) override {
    HAPAX_TRY_ASSIGN(put, change<std::optional<bool>>(1, [&](Writer& writer, std::int64_t) {
                       return writer.inbox().records.put(record, before);
                     }));
    if (put) return *put;
    return no_room_for_records();
  }
  Result<bool> remove_record(std::string_view name, std::int64_t version) override {
    return change<bool>(1, [&](Writer& writer, std::int64_t) {
      return writer.inbox().records.remove(name, version);
    });
  }

  Result<Stats> stats() override {
    return read<Stats>([](Reader::View& view) { return view.reading.stats(view.now_ms); });
  }
  Result<ClaimFaults> claim_faults() override {
    return read<ClaimFaults>([](Reader::View& view) { return view.reading.claim_faults(); });
  }

 private:
  // A replay without a number gets a negative one for this call, so that a second run, after a
  // failed commit that took effect, replays nothing again. Fences are never issued twice.
  static Result<void> give_name(Writer& writer, HowToReplay& how) {
    if (how.no != ReplayNo()) return {};
    HAPAX_TRY_ASSIGN(fence, writer.inbox().fences.next());
    how.no = ReplayNo(-fence.value());
    return {};
  }

  // Runs `work` in a transaction that it may share with other callers.
  template <class T, class Work>
  Result<T> change(std::size_t rows, const Work& work) {
    std::optional<T> answer;
    HAPAX_TRY(change(rows, [&](Writer& writer, std::int64_t now_ms) -> Result<void> {
      HAPAX_TRY_ASSIGN(value, work(writer, now_ms));
      answer = std::move(value);
      return {};
    }));
    return std::move(*answer);
  }
  Result<void> change(std::size_t rows, const Task::Work& work) {
    Task task(rows, work);
    submit(task);
    return std::move(task.outcome);
  }

  template <class T, class Work>
  Result<T> read(const Work& work) {
    std::optional<T> answer;
    HAPAX_TRY(writer_.reader().read([&](Reader::View& view) -> Result<void> {
      HAPAX_TRY_ASSIGN(value, work(view));
      answer = std::move(value);
      return {};
    }));
    return std::move(*answer);
  }

  void submit(Job& job) {
    group_.submit(job, [this](const std::vector<Job*>& group) { commit(group); });
  }

  // Runs the group again without each part that must be refused, so that the others do not fail
  // with it.
  void commit(const std::vector<Job*>& group) {
    Refusals refusals;
    bool in_doubt = false;
    for (;;) {
      const std::size_t known = refusals.size();
      Result<void> outcome =
          writer_.transact([&](Writer& writer) { return run_group(writer, group, refusals); });
      if (outcome) writer_.inbox().note_commit();
      in_doubt = in_doubt || (!outcome && outcome.error().outcome() == Outcome::unknown);
      if (!outcome && refusals.size() > known) continue;
      if (!outcome && in_doubt) outcome = Error(Code::outcome_unknown, outcome.error().detail());
      for (Job* each : group) {
        const Error* refused = refusals.of(each);
        each->outcome = outcome && refused != nullptr ? Result<void>(*refused) : outcome;
      }
      return;
    }
  }

  GroupCommit group_{1};
  Writer writer_;  // used by the one thread that commits
};

}  // namespace

Result<std::unique_ptr<Driver>> open_driver(const std::string& path, const OpenOptions& options,
                                            Clock& clock) {
  {
    HAPAX_TRY_ASSIGN(db, open_file(path, options.busy_timeout));
    if (options.migrate) {
      HAPAX_TRY(migrate(db.get()));
    } else {
      HAPAX_TRY(check_schema(db.get()));
    }
  }
  HAPAX_TRY_ASSIGN(writer, Writer::open({path, options.busy_timeout}, clock));
  return std::unique_ptr<Driver>(std::make_unique<SqliteDriver>(std::move(writer)));
}

Result<int> migrate_file(const std::string& path, const OpenOptions& options) {
  HAPAX_TRY_ASSIGN(db, open_file(path, options.busy_timeout));
  return migrate(db.get());
}

}  // namespace hapax::store::sqlite
