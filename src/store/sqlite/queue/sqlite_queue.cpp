// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/contracts.hpp"

#include <map>
#include <utility>

namespace hapax::store::sqlite {

namespace {

// The parts of a batch that cannot be in its transaction, with the reason. A part is a unit with an
// answer of its own: a request (see Admitter), or all settlements or leases of the batch.
class Refusals {
 public:
  std::size_t size() const { return refused_.size(); }
  const Error* of(const void* part) const {
    const auto known = refused_.find(part);
    return known != refused_.end() ? &known->second : nullptr;
  }
  void add(const void* part, const Error& why) { refused_.emplace(part, why); }

  // Returns the result of `part`. A part that finds the store corrupt is refused, so that it fails
  // alone: no other part uses the damaged row. After kDamagedMax such parts no more are refused.
  Result<void> watch(const void* part, Result<void> done) {
    const bool damaged = !done && done.error().code() == Code::store_corrupt;
    if (damaged && damaged_++ < kDamagedMax) add(part, done.error());
    return done;
  }

 private:
  static constexpr std::size_t kDamagedMax = 8;  // each makes the transaction run once more

  std::map<const void*, Error> refused_;
  std::size_t damaged_ = 0;
};

Result<void> run_admit(Inbox& inbox, const Admit& each, std::vector<AdmitAnswer>& answers,
                       std::int64_t now_ms, Refusals& refusals) {
  std::optional<Error> refused;
  HAPAX_TRY_ASSIGN(admitted, inbox.admitter.admit(each, now_ms, refused));
  if (refused) {
    refusals.add(&each, *refused);
    return std::move(*refused);
  }
  answers.emplace_back(std::move(admitted));
  return {};
}

Result<void> run_admits(Inbox& inbox, std::span<const Admit> admits,
                        std::vector<AdmitAnswer>& answers, std::int64_t now_ms,
                        Refusals& refusals) {
  answers.clear();
  for (const Admit& each : admits) {
    if (const Error* known = refusals.of(&each)) {
      answers.emplace_back(*known);
    } else {
      HAPAX_TRY(refusals.watch(&each, run_admit(inbox, each, answers, now_ms, refusals)));
    }
  }
  return inbox.admitter.write_deliveries();
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

Result<void> run_batch(Inbox& inbox, const Batch& batch, Answers& answers, std::int64_t now_ms,
                       Refusals& refusals) {
  const auto settle = [&](const Settlement& each) { return inbox.settler.settle(each, now_ms); };
  HAPAX_TRY(run_kind(batch.settle, answers.settle, refusals, settle));
  HAPAX_TRY(run_admits(inbox, batch.admit, answers.admit, now_ms, refusals));
  const auto lease = [&](const LeaseRequest& each) { return inbox.leaser.lease(each, now_ms); };
  return run_kind(batch.lease, answers.lease, refusals, lease);
}

class SqliteQueue final : public store::Queue {
 public:
  explicit SqliteQueue(Database& database) : database_(database) {}

  // The batch runs again without each part that must be refused, so that the others do not fail
  // with it.
  Answers write(const Batch& batch) override {
    Refusals refusals;
    Answers answers;
    for (bool in_doubt = false;;) {
      const std::size_t known = refusals.size();
      Result<void> done = database_.change([&](Inbox& inbox, std::int64_t now_ms) {
        return run_batch(inbox, batch, answers, now_ms, refusals);
      });
      if (done) return answers;
      in_doubt = in_doubt || done.error().outcome() == Outcome::unknown;
      if (refusals.size() > known) continue;
      if (in_doubt) return failed(batch, Error(Code::outcome_unknown, done.error().detail()));
      return failed(batch, done.error());
    }
  }

  Result<Cancelled> cancel(const DeliveryRef& which) override {
    return database_.change<Cancelled>(
        [&](Inbox& inbox, std::int64_t now_ms) { return inbox.replayer.cancel(which, now_ms); });
  }
  Result<Replayed> replay(const Replay& what) override {
    Replay named = what;
    return database_.change<Replayed>([&](Inbox& inbox, std::int64_t now_ms) -> Result<Replayed> {
      HAPAX_TRY(give_name(inbox, named.how));
      return inbox.replayer.replay(named, now_ms);
    });
  }
  Result<Replaying> replay_step(const ReplayStep& step) override {
    HAPAX_TRY_ASSIGN(found, database_.read<Listing::Found>([&](Reader::View& view) {
      return view.reading.listing.next_of(step, view.now_ms);
    }));
    Replaying answer{found.events.size(), 0, found.after, found.done};
    if (step.dry || found.events.empty()) return answer;
    ReplayStep named = step;
    const auto replay_all = [&](Inbox& inbox, std::int64_t now_ms) -> Result<std::size_t> {
      HAPAX_TRY(give_name(inbox, named.how));
      return inbox.replayer.replay_all(found.events, named, now_ms);
    };
    HAPAX_TRY_ASSIGN(deliveries, database_.change<std::size_t>(replay_all));
    answer.deliveries = deliveries;
    return answer;
  }

  Result<Released> release_holder(const ReleaseStep& step) override {
    return database_.change<Released>([&](Inbox& inbox, std::int64_t now_ms) {
      return inbox.leaser.release_holder(step, now_ms);
    });
  }
  Result<Swept> sweep(const SweepStep& step) override {
    return database_.change<Swept>(
        [&](Inbox& inbox, std::int64_t now_ms) { return inbox.retention.sweep(step, now_ms); });
  }

  Result<void> make_ahead() override { return {}; }

  Result<void> note_duplicates(std::span<const DuplicateNote> notes) override {
    return database_.change([&](Inbox& inbox, std::int64_t) -> Result<void> {
      for (const DuplicateNote& each : notes) HAPAX_TRY(inbox.notes.note(each));
      return {};
    });
  }

  Result<Enqueued> enqueue(const MessageId& id, const Message& message) override {
    bool again = false;
    HAPAX_TRY_ASSIGN(
        enqueued, database_.change<std::optional<Enqueued>>([&](Inbox& inbox, std::int64_t now_ms) {
          const bool second_run = std::exchange(again, true);
          return inbox.messages.enqueue(id, message, now_ms, second_run);
        }));
    if (enqueued) return *enqueued;
    return Error(Code::key_reused, "this key was used for a message with other content");
  }
  Result<Moved> move_messages(std::span<const EventNo> numbers) override {
    HAPAX_TRY_ASSIGN(moved,
                     database_.change<std::optional<Moved>>([&](Inbox& inbox, std::int64_t now_ms) {
                       return inbox.messages.move(numbers, now_ms);
                     }));
    if (moved) return *moved;
    return Error(Code::store_busy,
                 "an event number belongs to another event; generate new numbers and retry");
  }

 private:
  // A replay without a number gets a negative one for this call, so that a second run, after a
  // failed commit that took effect, replays nothing again. Fences are never issued twice.
  static Result<void> give_name(Inbox& inbox, HowToReplay& how) {
    if (how.no != ReplayNo()) return {};
    HAPAX_TRY_ASSIGN(fence, inbox.fences.next());
    how.no = ReplayNo(-fence.value());
    return {};
  }

  Database& database_;
};

}  // namespace

std::unique_ptr<store::Queue> make_queue(Database& database) {
  return std::make_unique<SqliteQueue>(database);
}

}  // namespace hapax::store::sqlite
