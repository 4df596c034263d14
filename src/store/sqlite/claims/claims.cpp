// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/claims/claims.hpp"

#include "base/try.hpp"
#include "store/sqlite/claims/statements.hpp"

#include <algorithm>

namespace hapax::store::sqlite {

namespace {

constexpr std::string_view kClaiming = "claim an id";

}  // namespace

ClaimTable::ClaimTable(StoreTime time, Statement claim, Statement take_over, Statement read,
                       Statement store_result)
    : time_(std::move(time)),
      claim_(std::move(claim)),
      take_over_(std::move(take_over)),
      read_(std::move(read)),
      store_result_(std::move(store_result)) {}

Result<ClaimTable> ClaimTable::prepare(sqlite3* db, Clock& clock) {
  HAPAX_TRY_ASSIGN(time, StoreTime::prepare(db, clock));
  HAPAX_TRY_ASSIGN(claim, Statement::prepare(db, kClaim));
  HAPAX_TRY_ASSIGN(take_over, Statement::prepare(db, kTakeOver));
  HAPAX_TRY_ASSIGN(read, Statement::prepare(db, kReadClaim));
  HAPAX_TRY_ASSIGN(store_result, Statement::prepare(db, kStoreResult));
  return ClaimTable(std::move(time), std::move(claim), std::move(take_over), std::move(read),
                    std::move(store_result));
}

Result<bool> ClaimTable::take(Statement& statement, const ClaimRequest& request,
                              std::int64_t now_ms, bool pass_now) {
  Run run(statement);
  run.bind(request.key).bind(view(request.token)).bind(now_ms + request.ttl.count());
  request.result.empty() ? run.bind_null() : run.bind(request.result);
  if (pass_now) run.bind(now_ms);
  HAPAX_TRY_ASSIGN(changed, run.change(kClaiming));
  return changed == 1;
}

Result<Claimed> ClaimTable::claim(const ClaimRequest& request, std::int64_t now_ms) {
  const Claimed fresh{.ours = true, .fresh = true, .token = request.token, .result = {}};
  HAPAX_TRY_ASSIGN(free, take(claim_, request, now_ms, false));
  if (free) return fresh;

  Run row(read_);
  HAPAX_TRY_ASSIGN(found, row.bind(request.key).step(kClaiming));
  if (!found || row.bytes(0).size() != request.token.bytes.size()) {
    return Error(Code::store_corrupt, "a claim in hapax_claim has no token; the table is damaged");
  }
  if (is_expired(row.number(2), now_ms)) {
    HAPAX_TRY_ASSIGN(taken, take(take_over_, request, now_ms, true));
    if (taken) return fresh;
  }
  Claimed claimed;
  std::copy_n(row.bytes(0).begin(), claimed.token.bytes.size(), claimed.token.bytes.begin());
  claimed.result = row.bytes(1);
  claimed.ours = claimed.token == request.token;
  return claimed;
}

Result<bool> ClaimTable::is_ours(std::string_view key, const Token& token) {
  Run row(read_);
  HAPAX_TRY_ASSIGN(found, row.bind(key).step(kClaiming));
  return found && row.bytes(0) == view(token);
}

Result<void> ClaimTable::store_result(std::string_view key, const Token& token,
                                      std::string_view result) {
  Run update(store_result_);
  update.bind(result).bind(key).bind(view(token));
  HAPAX_TRY_ASSIGN(changed, update.change("store the result"));
  if (changed == 1) return {};
  return Error(Code::not_in_transaction,
               "the claim is gone: the transaction it was made in was rolled back");
}

}  // namespace hapax::store::sqlite
