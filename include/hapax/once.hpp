// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/tx.hpp>

#include <optional>

namespace hapax {

// The parts of once() that need no template. Leaves the savepoint when it goes without keep().
class HAPAX_API OnceStep {
 public:
  explicit OnceStep(Tx& tx) : tx_(tx) {}
  ~OnceStep();
  OnceStep(const OnceStep&) = delete;
  OnceStep& operator=(const OnceStep&) = delete;

  // What is known already, or nothing: the claim is ours and the work is to run.
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
    return std::string();  // so that this is the only error
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

// Runs `work` if and only if `what` was not done before, in the transaction `tx` that is the
// caller's: claim, work, result and outbox messages commit or roll back as one.
//
// `work` takes the transaction and returns nothing, a std::string to be stored, or a Result of
// either; an Error says that it failed. On success the answer holds its result; a later call with
// the same id runs nothing and gets the same bytes. Not an error: a duplicate.
//
// When the work fails or throws, everything since the call began is undone, the id is free again,
// and the caller's transaction goes on: committing it anyway burns nothing. The error, or the
// exception, comes through unchanged. After some errors (a full disk, a failed read, an interrupt)
// the whole transaction is rolled back. The detail of the error then says so, and the caller begins
// a new one; where it does not say so the transaction goes on as it was.
//
// Further errors, all did_not_happen: store_busy (another transaction won: roll back and run the
// whole transaction again), not_in_transaction (there is none), invalid_argument (also: a statement
// of the caller's is in progress on the handle, on SQLite one that writes, such as an UPDATE ...
// RETURNING with more rows to give. Nothing has changed: finish or reset it and call again),
// handle_closed, store_full, store_unavailable. Of an unknown outcome only when the work itself
// ended the transaction, which it must not do.
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
    return Once();  // so that the above is the only error
  }
}

}  // namespace hapax
