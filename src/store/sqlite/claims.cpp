// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/claims.hpp"

#include "base/try.hpp"
#include "store/sqlite/statements.hpp"

#include <algorithm>

namespace hapax::store::sqlite {

namespace {

constexpr std::string_view kDoing = "claim an id";

}  // namespace

Claims::Claims(StoreTime time, Statement claim, Statement read, Statement store_result)
    : time_(std::move(time)),
      claim_(std::move(claim)),
      read_(std::move(read)),
      store_result_(std::move(store_result)) {}

Result<Claims> Claims::prepare(sqlite3* db, Clock& clock) {
  HAPAX_TRY_ASSIGN(time, StoreTime::prepare(db, clock));
  HAPAX_TRY_ASSIGN(claim, Statement::prepare(db, kClaim));
  HAPAX_TRY_ASSIGN(read, Statement::prepare(db, kReadClaim));
  HAPAX_TRY_ASSIGN(store_result, Statement::prepare(db, kStoreResult));
  return Claims(std::move(time), std::move(claim), std::move(read), std::move(store_result));
}

Result<Claimed> Claims::claim(const ClaimWish& wish, std::int64_t now_ms) {
  Run insert(claim_);
  insert.bind(wish.key).bind(view(wish.token)).bind(now_ms + wish.ttl.count());
  wish.result.empty() ? insert.bind_null() : insert.bind(wish.result);
  HAPAX_TRY_ASSIGN(changed, insert.bind(now_ms).change(kDoing));
  if (changed == 1) return Claimed{.ours = true, .fresh = true, .token = wish.token, .result = {}};

  Run row(read_);
  HAPAX_TRY_ASSIGN(found, row.bind(wish.key).step(kDoing));
  if (!found || row.bytes(0).size() != wish.token.bytes.size()) {
    return Error(Code::store_corrupt, "a claim in hapax_claim has no token; the table is damaged");
  }
  Claimed claimed;
  std::copy_n(row.bytes(0).begin(), claimed.token.bytes.size(), claimed.token.bytes.begin());
  claimed.result = row.bytes(1);
  claimed.ours = claimed.token == wish.token;
  return claimed;
}

Result<bool> Claims::is_ours(std::string_view key, const Token& token) {
  Run row(read_);
  HAPAX_TRY_ASSIGN(found, row.bind(key).step(kDoing));
  return found && row.bytes(0) == view(token);
}

Result<void> Claims::store_result(std::string_view key, const Token& token,
                                  std::string_view result) {
  Run update(store_result_);
  update.bind(result).bind(key).bind(view(token));
  HAPAX_TRY_ASSIGN(changed, update.change("store the result"));
  if (changed == 1) return {};
  return Error(Code::not_in_transaction,
               "the claim is gone: the transaction it was made in was rolled back");
}

}  // namespace hapax::store::sqlite
