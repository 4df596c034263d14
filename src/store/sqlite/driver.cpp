// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/driver.hpp"

#include "base/try.hpp"
#include "store/group_commit.hpp"
#include "store/sqlite/purge.hpp"
#include "store/sqlite/schema.hpp"
#include "store/sqlite/writer.hpp"

namespace hapax::store::sqlite {

namespace {

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
  explicit SqliteDriver(Writer writer) : writer_(std::move(writer)) {}

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
  void submit(Job& job) {
    group_.submit(job, [this](const std::vector<Job*>& group) { commit(group); });
  }

  void commit(const std::vector<Job*>& group) {
    const Result<void> fate = writer_.transact([&](Writer& writer) -> Result<void> {
      HAPAX_TRY_ASSIGN(now_ms, writer.claims().time().now_ms());
      for (Job* each : group) HAPAX_TRY(run_job(writer, *each, now_ms));
      return {};
    });
    for (Job* each : group) each->fate = fate;
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
