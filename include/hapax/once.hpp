// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Runs work once, in a transaction of the caller.

#include <hapax/detail/tx.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace hapax {

/// Maximum length of a result that once() stores, in bytes.
inline constexpr std::size_t kMaxResult = 1024 * 1024;

/// Identifies work that must happen once. It shares its claims with Store::dedup: an id claimed
/// through one is a duplicate for the other. The views must be valid until the call returns.
struct OnceId {
  std::string_view scope;  ///< 1 to kMaxScope bytes; the same id in another scope is another id
  std::string_view id;     ///< 1 to kMaxId bytes
  /// How long the id and the result are remembered: 1 ms to kMaxTtl. After that the work runs
  /// again, so it should be longer than the sender retries.
  std::chrono::milliseconds ttl = kDefaultTtl;
};

/// The answer of once().
struct Once {
  bool duplicate = false;  ///< true: the work was already done, and did not run. Not an error
  std::string result;      ///< what the work returned, now or originally; empty if nothing
};

/// Runs `work` if and only if `what` was not done before, in the caller's transaction `tx`, a
/// SqliteTx or PostgresTx (sqlite.hpp, postgres.hpp). Claim, work, result and outbox messages
/// commit or roll back together: the work takes effect exactly once, also after a crash.
///
///     auto done = hapax::once(tx, {.scope = "orders", .id = order_id},
///                             [&](hapax::SqliteTx& tx) { return book(tx.handle(), order); });
///
/// `work` takes the transaction and returns nothing, a std::string of up to kMaxResult bytes to be
/// stored, or a Result of either; an Error means that it failed. It must not end the transaction.
/// Effects outside the database, such as an e-mail, are not rolled back with it: enqueue them
/// (outbox.hpp).
///
/// Success: the work has run, or `duplicate` is true and it has not; the answer holds its result.
/// Nothing is durable before the caller commits. Of concurrent transactions with one id the first
/// goes on; the others wait for it, or get store_busy.
///
/// If the work fails or throws, everything since the start of the call is rolled back, the id stays
/// free, and the caller's transaction continues: committing it claims nothing. The error or
/// exception is passed through unchanged. After some errors (full disk, failed read, interrupt) the
/// database has rolled back the whole transaction; the detail then says so, and the caller must
/// begin a new one.
///
/// Further errors:
/// - invalid_argument: `what` or the result is outside its limits, or a statement of the caller is
/// in
///   progress on the handle (on SQLite only one that writes, such as an UPDATE ... RETURNING with
///   more rows to return): finish or reset it and call again.
/// - not_in_transaction: no transaction is in progress, or an earlier statement of it has failed.
/// Its
///   outcome is unknown if the work has ended the transaction.
/// - store_busy: another transaction was first: roll back and run the whole transaction again.
/// - work_failed: on PostgreSQL also if the work returned success after a statement had failed.
/// - handle_closed, store_full, store_read_only, store_unavailable, store_corrupt: see Code.
///
/// The outcome of every other error is did_not_happen. Threads: as for the handle, one at a time.
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
