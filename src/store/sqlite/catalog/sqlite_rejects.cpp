// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/contracts.hpp"

namespace hapax::store::sqlite {

namespace {

class SqliteRejects final : public store::Rejects {
 public:
  explicit SqliteRejects(Database& database) : database_(database) {}

  Result<std::size_t> add_rejects(const RejectBatch& batch) override {
    return database_.change<std::size_t>(
        [&](Inbox& inbox, std::int64_t) { return inbox.rejects.add(batch); });
  }
  Result<RejectPage> rejects(const RejectQuery& query) override {
    return database_.read<RejectPage>([&](Reader::View& view) { return view.rejects.page(query); });
  }
  Result<std::vector<RejectCounts>> reject_counts() override {
    return database_.read<std::vector<RejectCounts>>(
        [](Reader::View& view) { return view.rejects.counts(); });
  }
  Result<std::optional<StoredReject>> reject(RejectNo number) override {
    return database_.read<std::optional<StoredReject>>(
        [&](Reader::View& view) { return view.rejects.read(number); });
  }
  // A second run, after a failed commit, must not report that the reject was missing.
  Result<bool> remove_reject(RejectNo number) override {
    bool was_there = false;
    HAPAX_TRY(database_.change([&](Inbox& inbox, std::int64_t) -> Result<void> {
      HAPAX_TRY_ASSIGN(removed, inbox.rejects.remove(number));
      was_there = was_there || removed;
      return {};
    }));
    return was_there;
  }
  Result<void> remove_rejects(std::span<const RejectNo> numbers) override {
    return database_.change([&](Inbox& inbox, std::int64_t) -> Result<void> {
      for (const RejectNo each : numbers) HAPAX_TRY(inbox.rejects.remove(each));
      return {};
    });
  }

 private:
  Database& database_;
};

}  // namespace

std::unique_ptr<store::Rejects> make_rejects(Database& database) {
  return std::make_unique<SqliteRejects>(database);
}

}  // namespace hapax::store::sqlite
