// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "bench/store/cases.hpp"
#include "bench/store/dedup_sides.hpp"
#include "bench/store/hand_written.hpp"

namespace hapax::bench {

namespace {

constexpr double kBatchedBudget = 0.8;

class HandWrittenDedup final : public BatchedDedup {
 public:
  HandWrittenDedup(const std::string& path, IdOrder order, std::size_t batch)
      : BatchedDedup(order, batch), db_(open_database(path)) {
    execute(db_.get(), "CREATE TABLE seen(key BLOB PRIMARY KEY, expires INTEGER) WITHOUT ROWID");
    begin_ = Query(db_.get(), "BEGIN IMMEDIATE");
    insert_ = Query(db_.get(), "INSERT INTO seen VALUES(?1, ?2) ON CONFLICT DO NOTHING");
    commit_ = Query(db_.get(), "COMMIT");
  }

 private:
  std::size_t claim(std::span<const std::string> ids) override {
    std::size_t fresh = 0;
    begin_.run();
    const std::int64_t expires = expiry_ms();
    for (const std::string& id : ids) {
      insert_.bind(1, id);
      insert_.bind(2, expires);
      fresh += static_cast<std::size_t>(insert_.run());
    }
    commit_.run();
    return fresh;
  }

  Database db_;
  Query begin_;
  Query insert_;
  Query commit_;
};

std::string fresh_url(WorkDirectory& directory) {
  return "sqlite:" + directory.fresh_file();
}

Case batched(WorkDirectory& directory, std::size_t batch, IdOrder order) {
  const std::string shape = batch == 1 ? "single" : "batches of " + std::to_string(batch);
  return {.name = "dedup, " + shape + ", " + std::string(name(order)),
          .budget = batch == 1 ? std::nullopt : std::optional(kBatchedBudget),
          .unit = batch,
          .open = [&directory, batch, order] {
            return Pair{std::make_unique<HandWrittenDedup>(directory.fresh_file(), order, batch),
                        std::make_unique<StoreDedup>(fresh_url(directory), order, batch)};
          }};
}

// The hand-written loop stays single-threaded, because it has no group commit.
Case threaded(WorkDirectory& directory, std::size_t threads, IdOrder order) {
  return {.name = "dedup, " + std::to_string(threads) + " threads, " + std::string(name(order)),
          .budget = std::nullopt,
          .unit = threads,
          .open = [&directory, threads, order] {
            return Pair{std::make_unique<HandWrittenDedup>(directory.fresh_file(), order, 1),
                        std::make_unique<ThreadedDedup>(fresh_url(directory), order, threads)};
          }};
}

}  // namespace

std::vector<Case> dedup_cases(WorkDirectory& directory) {
  std::vector<Case> cases;
  for (const std::size_t batch : {1U, 64U, 256U}) {
    for (const IdOrder order : {IdOrder::random, IdOrder::by_time}) {
      cases.push_back(batched(directory, batch, order));
    }
  }
  cases.push_back(threaded(directory, 64, IdOrder::random));
  return cases;
}

}  // namespace hapax::bench
