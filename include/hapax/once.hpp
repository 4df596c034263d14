// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/tx.hpp>

#include <optional>

namespace hapax {

// The non-template part of once(). Rolls back to the savepoint on destruction unless keep() was
// called.
class HAPAX_API OnceStep {
 public:
  explicit OnceStep(Tx& tx) : tx_(tx) {}
  ~OnceStep();
  OnceStep(const OnceStep&) = delete;
  OnceStep& operator=(const OnceStep&) = delete;

  // The stored result of a duplicate, or nullopt if the claim is new and the work must run.
  Result<std::optional<Once>> enter(const OnceId& what);
  Result<Once> keep(Result<std::string> done);

 private:
  Tx& tx_;
  Tx::Entered entered_;
  bool open_ = false;
};

namespace detail {

template <class Returned>
inline constexpr bool kMayReturn =
    std::is_void_v<Returned> || std::is_same_v<Returned, Result<void>> ||
    std::is_same_v<Returned, Result<std::string>> || std::is_convertible_v<Returned, std::string>;

template <class Work, class T>
Result<std::string> run_work(Work& work, T& tx) {
  using Returned = std::invoke_result_t<Work&, T&>;
  static_assert(kMayReturn<Returned>,
                "the work returns nothing, a std::string, or a Result of either");
  if constexpr (!kMayReturn<Returned>) {
    return std::string();  // so that the assertion is the only error
  } else if constexpr (std::is_void_v<Returned>) {
    work(tx);
    return std::string();
  } else if constexpr (std::is_same_v<Returned, Result<void>>) {
    Result<void> done = work(tx);
    if (!done) return std::move(done).error();
    return std::string();
  } else {
    return work(tx);
  }
}

}  // namespace detail

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
    OnceStep step(tx);
    Result<std::optional<Once>> known = step.enter(what);
    if (!known) return std::move(known).error();
    if (known->has_value()) return std::move(**known);
    return step.keep(detail::run_work(work, tx));
  } else {
    return Once();  // so that the assertions are the only errors
  }
}

}  // namespace hapax
