// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/contracts.hpp"
#include "store/sqlite/purge.hpp"

namespace hapax::store::sqlite {

namespace {

class SqliteClaims final : public store::Claims {
 public:
  explicit SqliteClaims(Database& database) : database_(database) {}

  Result<std::vector<Dedup>> dedup(std::span<const DedupItem> items) override {
    return database_.change<std::vector<Dedup>>(
        [&](Inbox& inbox, std::int64_t now_ms) -> Result<std::vector<Dedup>> {
          std::vector<Dedup> answers;
          for (const DedupItem& each : items) {
            HAPAX_TRY_ASSIGN(claimed, inbox.claims.claim({each.key, each.token, each.ttl}, now_ms));
            answers.push_back({.duplicate = !claimed.ours});
          }
          return answers;
        });
  }
  Result<Purged> purge(std::size_t limit) override {
    return database_.change<Purged>(
        [&](Inbox& inbox, std::int64_t now_ms) { return purge_step(inbox.db, now_ms, limit); });
  }

 private:
  Database& database_;
};

}  // namespace

std::unique_ptr<store::Claims> make_claims(Database& database) {
  return std::make_unique<SqliteClaims>(database);
}

}  // namespace hapax::store::sqlite
