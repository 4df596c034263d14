// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/store.hpp>

#include "store/claims.hpp"
#include "store/sqlite/file/connection.hpp"
#include "store/sqlite/file/store_time.hpp"

#include <string>

namespace hapax::store::sqlite {

struct ClaimRequest {
  std::string_view key;
  Token token;
  std::chrono::milliseconds ttl;
  std::string_view result = {};  // stored with a fresh claim; empty: none
};

struct Claimed {
  bool ours = false;   // the claim has the token that was passed
  bool fresh = false;  // ... and was made by this call
  Token token;         // of the current claim
  std::string result;  // stored with the claim, if it is not fresh
};

// Claims on one connection, inside a write transaction that the caller begins and ends: the
// store's, or that of a library user.
class ClaimTable {
 public:
  static Result<ClaimTable> prepare(sqlite3* db, Clock& clock);

  StoreTime& time() { return time_; }

  // Claims if free or expired at `now_ms`.
  Result<Claimed> claim(const ClaimRequest& request, std::int64_t now_ms);
  // Whether the claim has this token.
  Result<bool> is_ours(std::string_view key, const Token& token);
  Result<void> store_result(std::string_view key, const Token& token, std::string_view result);

 private:
  Result<bool> take(Statement& statement, const ClaimRequest& request, std::int64_t now_ms,
                    bool pass_now);

  ClaimTable(StoreTime time, Statement claim, Statement take_over, Statement read,
             Statement store_result);

  StoreTime time_;
  Statement claim_;
  Statement take_over_;
  Statement read_;
  Statement store_result_;
};

}  // namespace hapax::store::sqlite
