// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/driver.hpp"

#include "base/try.hpp"
#include "store/sqlite/checkpointer.hpp"
#include "store/sqlite/purge.hpp"
#include "store/sqlite/schema.hpp"
#include "store/sqlite/writer.hpp"

#include <sqlite3.h>

#include <condition_variable>
#include <deque>
#include <mutex>

namespace hapax::store::sqlite {

namespace {

constexpr std::size_t kGroupItemsMax = 4096;  // bounds how long one transaction lasts

// One caller's wish, on that caller's stack, from when it queues until it is answered.
struct Job {
  explicit Job(const Batch& wanted) : batch(&wanted) {}
  explicit Job(std::size_t limit) : purge_limit(limit) {}

  std::size_t items() const { return batch != nullptr ? batch->dedup.size() : purge_limit; }

  const Batch* batch = nullptr;  // null: a step of retention
  std::size_t purge_limit = 0;
  Answers answers;
  Purged purged;
  Result<void> fate;  // of the transaction it was part of
  bool answered = false;
  std::condition_variable wake;
};

Result<void> run_batch(Writer& writer, Job& job, std::int64_t now_ms) {
  std::vector<Dedup>& answers = *job.answers.dedup;
  answers.clear();
  for (const DedupItem& item : job.batch->dedup) {
    HAPAX_TRY_ASSIGN(claimed, writer.claims().claim({item.key, item.token, item.ttl}, now_ms));
    answers.push_back(Dedup{.duplicate = !claimed.ours});
  }
  return {};
}

Result<void> run_job(Writer& writer, Job& job, std::int64_t now_ms) {
  if (job.batch != nullptr) return run_batch(writer, job, now_ms);
  HAPAX_TRY_ASSIGN(purged, purge_step(writer.handle(), now_ms, job.purge_limit));
  job.purged = purged;
  return {};
}

class SqliteDriver final : public Driver {
 public:
  SqliteDriver(Writer writer, Handle checkpoint_handle)
      : writer_(std::move(writer)), checkpointer_(std::move(checkpoint_handle)) {}

  Capabilities capabilities() const override { return {Capability::dedup}; }

  Answers write(const Batch& batch) override {
    Job job(batch);
    submit(job);
    if (!job.fate) job.answers.dedup = std::move(job.fate).error();
    return std::move(job.answers);
  }

  Result<Purged> purge(std::size_t limit) override {
    Job job(limit);
    submit(job);
    if (!job.fate) return std::move(job.fate).error();
    return job.purged;
  }

 private:
  // Group commit: the caller at the head of the queue commits for all who wait behind it, on its
  // own thread. So a lone caller waits for nobody, and many share one sync.
  void submit(Job& job) {
    std::unique_lock lock(mutex_);
    queue_.push_back(&job);
    job.wake.wait(lock, [&] { return job.answered || (!writing_ && queue_.front() == &job); });
    if (job.answered) return;

    writing_ = true;
    const std::vector<Job*> group = take_group();
    lock.unlock();
    commit(group);
    lock.lock();
    writing_ = false;
    for (Job* each : group) {
      each->answered = true;
      each->wake.notify_one();
    }
    if (!queue_.empty()) queue_.front()->wake.notify_one();
  }

  std::vector<Job*> take_group() {
    std::vector<Job*> group;
    std::size_t items = 0;
    while (!queue_.empty()) {
      items += queue_.front()->items();
      if (!group.empty() && items > kGroupItemsMax) break;
      group.push_back(queue_.front());
      queue_.pop_front();
    }
    return group;
  }

  void commit(const std::vector<Job*>& group) {
    if (checkpointer_.failed()) writer_.poison();
    const Result<void> fate = writer_.transact([&](Writer& writer) -> Result<void> {
      HAPAX_TRY_ASSIGN(now_ms, writer.claims().time().now_ms());
      for (Job* each : group) HAPAX_TRY(run_job(writer, *each, now_ms));
      return {};
    });
    for (Job* each : group) each->fate = fate;
    if (fate) tend_log();
  }

  void tend_log() {
    checkpointer_.note_log(writer_.log_pages());
    bool all = false;
    if (checkpointer_.finish_due() && !checkpoint_passively(writer_.handle(), all)) {
      writer_.poison();
    }
  }

  std::mutex mutex_;
  std::deque<Job*> queue_;  // bounded by the number of threads that call
  bool writing_ = false;
  Writer writer_;  // used by the thread that set writing_
  Checkpointer checkpointer_;
};

}  // namespace

Result<std::unique_ptr<Driver>> open_driver(const std::string& path, const OpenOptions& options,
                                            Clock& clock) {
  HAPAX_TRY_ASSIGN(db, open_file(path, options.busy_timeout));
  if (options.migrate) {
    HAPAX_TRY(migrate(db.get()));
  } else {
    HAPAX_TRY(check_schema(db.get()));
  }
  HAPAX_TRY_ASSIGN(writer, Writer::open({path, options.busy_timeout}, clock));
  std::unique_ptr<Driver> driver = std::make_unique<SqliteDriver>(std::move(writer), std::move(db));
  return driver;
}

Result<int> migrate_file(const std::string& path, const OpenOptions& options) {
  HAPAX_TRY_ASSIGN(db, open_file(path, options.busy_timeout));
  return migrate(db.get());
}

}  // namespace hapax::store::sqlite
