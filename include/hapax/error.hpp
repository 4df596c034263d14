// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

// Everything is hidden by default; this marks the public API.
#define HAPAX_API __attribute__((visibility("default")))
// For private parts of public classes.
#define HAPAX_HIDDEN __attribute__((visibility("hidden")))

namespace hapax {

// The outcome of the requested operation. Every error has one of three, because callers handle each
// differently.
enum class Outcome : std::uint8_t {
  did_not_happen,  // nothing changed; retrying is safe
  happened,        // it took effect; only the rest of the answer is missing
  unknown,         // it may have taken effect: repeat the request with the same token to find out
};

// A code exists only if some caller handles it differently. Common properties (outcome,
// retryability, HTTP status, metric label) are in one table: see info().
enum class Code : std::uint8_t {
  invalid_argument,    // the input is outside the documented limits; nothing was written
  misconfigured,       // a URL, path or option cannot work as given
  not_in_transaction,  // the handle has no transaction in progress, or lost it
  handle_closed,       // the database handle is null or closed
  key_reused,          // the key was used with another payload
  work_failed,         // the caller's work returned an error
  refused,             // the server understood the request and rejected it
  store_busy,          // another writer holds the lock; run the transaction again
  store_full,          // the disk or a bounded store is full
  store_read_only,     // the store cannot be written
  store_unavailable,   // the store did not answer or failed before the commit
  store_corrupt,       // the database is damaged or not a database of hapax
  store_newer,         // the schema was written by a newer version of hapax
  outcome_unknown,     // the commit was sent and its answer was lost
  queue_full,          // backpressure: the queue is full; nothing was attempted
  stopping,            // the server is shutting down
};

inline constexpr std::size_t kCodeCount = static_cast<std::size_t>(Code::stopping) + 1;

struct CodeInfo {
  Code code;
  std::string_view name;  // stable: in problem types, JSON, logs and metric labels
  Outcome outcome;        // the outcome unless the error states another
  bool retryable;         // the same request may succeed later, unchanged
  int http_status;
};

// The entry of `code` in the table of codes. Never fails.
HAPAX_API const CodeInfo& info(Code code) noexcept;

HAPAX_API std::string_view name(Outcome outcome) noexcept;

// A failure as a value. `detail` is one or two sentences for people: what happened, where, and what
// to do about it. It never contains a secret or a payload. Cheap to move.
class HAPAX_API Error {
 public:
  // The location defaults to the caller; do not pass it.
  explicit Error(Code code, std::string detail, const char* file = __builtin_FILE(),
                 int line = __builtin_LINE());
  // For an error whose outcome differs from the usual one of its code.
  Error(Code code, Outcome outcome, std::string detail, const char* file = __builtin_FILE(),
        int line = __builtin_LINE());

  Code code() const noexcept { return code_; }
  Outcome outcome() const noexcept { return outcome_; }
  const std::string& detail() const noexcept { return detail_; }
  bool retryable() const noexcept { return info(code_).retryable; }
  const char* file() const noexcept { return file_; }
  int line() const noexcept { return line_; }

  // "store-busy: app.db is locked ..." and, where it is not obvious, the outcome.
  std::string to_string() const;

 private:
  Code code_;
  Outcome outcome_;
  int line_;
  const char* file_;
  std::string detail_;
};

namespace detail {
// Aborts with a message: reading an absent value is a bug in the caller.
[[noreturn]] HAPAX_API void no_value(const Error& error) noexcept;
[[noreturn]] HAPAX_API void no_error() noexcept;
}  // namespace detail

// A T or an Error. The member names are a subset of std::expected. Ignoring a Result is a compiler
// warning. Reading the absent side aborts.
template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit
  // A literal or another type convertible to T, so that `return "text";` works for Result<string>.
  template <class U, std::enable_if_t<std::is_convertible_v<U&&, T> &&
                                          !std::is_same_v<std::remove_cvref_t<U>, T> &&
                                          !std::is_same_v<std::remove_cvref_t<U>, Error> &&
                                          !std::is_same_v<std::remove_cvref_t<U>, Result>,
                                      int> = 0>
  Result(U&& value) : state_(std::in_place_index<0>, std::forward<U>(value)) {}  // NOLINT

  bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }

  T& value() & { return *checked(); }
  const T& value() const& { return *const_cast<Result*>(this)->checked(); }
  T&& value() && { return std::move(*checked()); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return checked(); }
  const T* operator->() const { return const_cast<Result*>(this)->checked(); }

  const Error& error() const& {
    if (has_value()) detail::no_error();
    return *std::get_if<1>(&state_);
  }
  Error&& error() && {
    if (has_value()) detail::no_error();
    return std::move(*std::get_if<1>(&state_));
  }

  T value_or(T other) const& { return has_value() ? **this : std::move(other); }

 private:
  T* checked() {
    if (!has_value()) detail::no_value(*std::get_if<1>(&state_));
    return std::get_if<0>(&state_);
  }

  std::variant<T, Error> state_;
};

// Success without a value, or an Error.
template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;

  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: implicit

  bool has_value() const noexcept { return !error_.has_value(); }
  explicit operator bool() const noexcept { return has_value(); }
  void value() const {
    if (error_) detail::no_value(*error_);
  }

  const Error& error() const& {
    if (!error_) detail::no_error();
    return *error_;
  }
  Error&& error() && {
    if (!error_) detail::no_error();
    return std::move(*error_);
  }

 private:
  std::optional<Error> error_;
};

}  // namespace hapax
