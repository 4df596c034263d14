// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/error.hpp>
#include <hapax/store.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

// Not part of the API, except that SqliteTx and PostgresTx convert to Tx&: the protocol between
// once.hpp, outbox.hpp and a transaction. It may change in any version.
namespace hapax {

struct Enqueued;
struct Message;
struct Once;
struct OnceId;

namespace detail {
class OnceStep;
}

// A transaction in progress on the caller's own database handle; see SqliteTx. Like the handle, not
// thread-safe.
class HAPAX_API Tx {
 public:
  virtual ~Tx() = default;

 protected:
  Tx() = default;
  Tx(const Tx&) = default;
  Tx(Tx&&) = default;
  Tx& operator=(const Tx&) = default;
  Tx& operator=(Tx&&) = default;

  struct Entered {
    bool duplicate = false;
    std::string result;  // of a duplicate
    std::string key;
    Token token;
  };

 private:
  friend class detail::OnceStep;
  friend class Outbox;

  // Sets a savepoint and claims the id. The savepoint remains only if the claim is new.
  virtual Result<Entered> enter(const OnceId& what) = 0;
  // Stores the result and releases the savepoint.
  virtual Result<void> keep(const Entered& entered, std::string_view result) = 0;
  // Rolls back to the savepoint. True: the caller's transaction continues. False: it was rolled
  // back entirely, by the database after an error or because the savepoint was lost; a caller that
  // commits anyway must not commit a claim without its work. The outcome of the error is unknown if
  // the work has ended the transaction.
  virtual Result<bool> leave(const Entered& entered) = 0;
  virtual Result<Enqueued> enqueue(const Message& message) = 0;
};

namespace detail {

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
  // Ends the step with what the work returned: stores it, or rolls back if it is an error.
  Result<Once> keep(Result<std::string> done);

 private:
  Tx& tx_;
  Tx::Entered entered_;
  bool open_ = false;
};

template <class Returned>
inline constexpr bool kMayReturn =
    std::is_void_v<Returned> || std::is_same_v<Returned, Result<void>> ||
    std::is_same_v<Returned, Result<std::string>> || std::is_convertible_v<Returned, std::string>;

// The result of the work as text; empty if it has none.
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

}  // namespace hapax
