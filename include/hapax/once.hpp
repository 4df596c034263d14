// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/detail/tx.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace hapax {

inline constexpr std::size_t kMaxResult = 1024 * 1024;  // of the result stored by once()

// Identifies work that must happen once: an id in a scope. It shares its claims with Store::dedup:
// an id claimed through one is a duplicate for the other.
struct OnceId {
  std::string_view scope;
  std::string_view id;
  std::chrono::milliseconds ttl = kDefaultTtl;
};

struct Once {
  bool duplicate = false;  // true: the work was already done and did not run
  std::string result;      // the value that the work returned, now or originally; empty if none
};

// Runs `work` if and only if `what` was not done before, in the caller's transaction `tx`: claim,
// work, result and outbox messages commit or roll back together.
//
// `work` takes the transaction and returns nothing, a std::string to be stored, or a Result of
// either; an Error means that it failed. On success the answer holds its result; later calls with
// the same id run nothing and return the same bytes. A duplicate is not an error.
//
// When the work fails or throws, everything since the start of the call is rolled back, the id
// stays free, and the caller's transaction continues: committing it claims nothing. The error or
// exception is passed through unchanged. After some errors (full disk, failed read, interrupt) the
// whole transaction is rolled back; the error detail then says so, and the caller must begin a new
// one. Otherwise the transaction is still in progress.
//
// Further errors, all did_not_happen: store_busy (another transaction won: roll back and run the
// whole transaction again), not_in_transaction (no transaction is in progress), invalid_argument
// (also if one of the caller's statements is in progress on the handle; on SQLite only a writing
// one, such as an UPDATE ... RETURNING with more rows to return. Nothing has changed: finish or
// reset it and call again), handle_closed, store_full, store_unavailable. The outcome is unknown
// only if the work itself ended the transaction, which it must not do.
template <class T, class Work>
Result<Once> once(T& tx, const OnceId& what, Work&& work) {
  constexpr bool kIsTx = std::is_convertible_v<T*, Tx*>;
  constexpr bool kTakesTx = std::is_invocable_v<Work&, T&>;
  static_assert(kIsTx, "tx is a transaction, such as hapax::SqliteTx, and not const");
  static_assert(kTakesTx || !kIsTx,
                "the work takes the transaction: [&](hapax::SqliteTx& tx) { ... }");
  if constexpr (kIsTx && kTakesTx) {
    detail::OnceStep step(tx);
    Result<std::optional<Once>> known = step.enter(what);
    if (!known) return std::move(known).error();
    if (known->has_value()) return std::move(**known);
    return step.keep(detail::run_work(work, tx));
  } else {
    return Once();  // so that the assertions are the only errors
  }
}

}  // namespace hapax
