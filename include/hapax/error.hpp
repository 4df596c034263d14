// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Errors as values: Error, its Code and Outcome, and Result.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

// Every symbol is hidden by default; this marks the public API.
#define HAPAX_API __attribute__((visibility("default")))
// For private parts of public classes.
#define HAPAX_HIDDEN __attribute__((visibility("hidden")))

/// The library. No function throws, except std::bad_alloc, unless its comment says so: failures are
/// values (Result). Views in arguments need to live only as long as the call, unless the comment
/// says otherwise.
namespace hapax {

/// Whether the requested operation took effect. Every Error has one of three outcomes, because
/// callers handle each differently.
enum class Outcome : std::uint8_t {
  did_not_happen,  ///< nothing changed: retrying is safe, and useful if Error::retryable()
  happened,        ///< it took effect, only the rest of the answer is missing: do not retry
  unknown,         ///< it may have taken effect: repeat the request to find out; see DedupRequest
};

/// Why an operation failed. A code exists only if some caller handles it differently; the detail of
/// the Error has the rest. Unless stated otherwise the outcome is did_not_happen.
enum class Code : std::uint8_t {
  invalid_argument,    ///< an argument is outside its documented limits; nothing was written
  misconfigured,       ///< a URL, path, option, scheme or server setting cannot work as given
  not_in_transaction,  ///< the handle has no transaction in progress, or has lost it
  handle_closed,       ///< the caller's database handle is null, closed or disconnected
  key_reused,          ///< the key of a message was used for a message with other content
  work_failed,         ///< the work of once() failed, or a constraint of the database did
  refused,             ///< the server understood the request and rejected it (command line only)
  store_busy,          ///< another writer was first: run the whole transaction again. Retryable
  store_full,          ///< the disk or a bounded store is full. Retryable once there is room
  store_read_only,     ///< the database cannot be written: its permissions, or a standby server
  store_unavailable,   ///< the store did not answer, or failed before the commit. Retryable
  store_corrupt,       ///< the database is damaged, or the file is not a database
  store_newer,         ///< a newer version of hapax wrote the schema: upgrade this program
  outcome_unknown,     ///< the commit was sent and its answer was lost. Outcome unknown, retryable
  queue_full,          ///< backpressure: nothing was attempted (server only). Retryable
  stopping,            ///< the server is shutting down (server only). Retryable
};

/// The number of codes.
inline constexpr std::size_t kCodeCount = static_cast<std::size_t>(Code::stopping) + 1;

/// The properties that all errors of a code share.
struct CodeInfo {
  Code code;              ///< the code that this describes
  std::string_view name;  ///< stable, such as "store-busy": used in JSON, logs and metric labels
  Outcome outcome;        ///< the outcome of an error that states no other
  bool retryable;         ///< the same request, unchanged, may succeed later
  int http_status;        ///< of a response that reports the error
};

/// The properties of `code`. Never fails; the reference is valid forever.
HAPAX_API const CodeInfo& info(Code code) noexcept;

/// "did-not-happen", "happened" or "unknown". The view is valid forever.
HAPAX_API std::string_view name(Outcome outcome) noexcept;

/// A failure as a value. Copyable, and cheap to move.
class HAPAX_API Error {
 public:
  /// An error with the usual outcome of its code. `detail` is one or two sentences for people: what
  /// happened, where, and what to do; no secret and no payload. `file` and `line` default to the
  /// caller's; do not pass them.
  explicit Error(Code code, std::string detail, const char* file = __builtin_FILE(),
                 int line = __builtin_LINE());
  /// An error whose outcome differs from the usual one of its code.
  Error(Code code, Outcome outcome, std::string detail, const char* file = __builtin_FILE(),
        int line = __builtin_LINE());

  /// The reason, for programs.
  Code code() const noexcept { return code_; }
  /// Whether the operation took effect.
  Outcome outcome() const noexcept { return outcome_; }
  /// The reason, for people: what happened, where, and what to do about it. It never contains a
  /// secret or a payload; it may contain paths and ids.
  const std::string& detail() const noexcept { return detail_; }
  /// Whether the same request, unchanged, may succeed later. If the outcome is unknown, repeat it
  /// only with the same token.
  bool retryable() const noexcept { return info(code_).retryable; }
  /// The source file that created the error, for bug reports. Valid forever.
  const char* file() const noexcept { return file_; }
  /// The line in file().
  int line() const noexcept { return line_; }

  /// "store-busy: app.db is locked ...", followed by the outcome where the name does not imply it.
  std::string to_string() const;

 private:
  Code code_;
  Outcome outcome_;
  int line_;
  const char* file_;
  std::string detail_;
};

namespace detail {
// Print the message to stderr and abort: reading an absent value is a bug in the caller.
[[noreturn]] HAPAX_API void no_value(const Error& error) noexcept;
[[noreturn]] HAPAX_API void no_error() noexcept;
}  // namespace detail

/// A value of type T or an Error. The members are a subset of those of std::expected. Ignoring a
/// Result is a compiler warning. Reading the side that is absent is a bug in the caller: it prints
/// a message with the error to stderr and aborts the process, in every build.
///
///     auto seen = store->dedup(request);
///     if (!seen) return seen.error();
///     if (seen->duplicate) ...
template <class T>
class [[nodiscard]] Result {
 public:
  /// T.
  using value_type = T;

  /// A success. Implicit, so that a function can `return value;`.
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: implicit
  /// A failure. Implicit, so that a function can `return error;`.
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit
  /// A success from a type convertible to T: `return "text";` works for Result<std::string>.
  template <class U, std::enable_if_t<std::is_convertible_v<U&&, T> &&
                                          !std::is_same_v<std::remove_cvref_t<U>, T> &&
                                          !std::is_same_v<std::remove_cvref_t<U>, Error> &&
                                          !std::is_same_v<std::remove_cvref_t<U>, Result>,
                                      int> = 0>
  Result(U&& value) : state_(std::in_place_index<0>, std::forward<U>(value)) {}  // NOLINT

  /// Whether it holds a value.
  bool has_value() const noexcept { return state_.index() == 0; }
  /// Whether it holds a value.
  explicit operator bool() const noexcept { return has_value(); }

  /// The value. Aborts if there is none.
  T& value() & { return *checked(); }
  /// The value. Aborts if there is none.
  const T& value() const& { return *const_cast<Result*>(this)->checked(); }
  /// The value, to move from. Aborts if there is none.
  T&& value() && { return std::move(*checked()); }
  /// value(); unlike with std::expected, an absent value aborts.
  T& operator*() & { return value(); }
  /// value(); unlike with std::expected, an absent value aborts.
  const T& operator*() const& { return value(); }
  /// value(), to move from; unlike with std::expected, an absent value aborts.
  T&& operator*() && { return std::move(*this).value(); }
  /// A member of the value. Aborts if there is none.
  T* operator->() { return checked(); }
  /// A member of the value. Aborts if there is none.
  const T* operator->() const { return const_cast<Result*>(this)->checked(); }

  /// The error. Aborts if there is a value.
  const Error& error() const& {
    if (has_value()) detail::no_error();
    return *std::get_if<1>(&state_);
  }
  /// The error, to move from. Aborts if there is a value.
  Error&& error() && {
    if (has_value()) detail::no_error();
    return std::move(*std::get_if<1>(&state_));
  }

  /// A copy of the value, or `other` if there is none.
  T value_or(T other) const& { return has_value() ? **this : std::move(other); }

 private:
  T* checked() {
    if (!has_value()) detail::no_value(*std::get_if<1>(&state_));
    return std::get_if<0>(&state_);
  }

  std::variant<T, Error> state_;
};

/// Success without a value, or an Error. Otherwise like any Result.
template <>
class [[nodiscard]] Result<void> {
 public:
  /// void.
  using value_type = void;

  /// A success: `return {};`.
  Result() = default;
  /// A failure. Implicit, so that a function can `return error;`.
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: implicit

  /// Whether it is a success.
  bool has_value() const noexcept { return !error_.has_value(); }
  /// Whether it is a success.
  explicit operator bool() const noexcept { return has_value(); }
  /// Does nothing. Aborts if there is an error.
  void value() const {
    if (error_) detail::no_value(*error_);
  }

  /// The error. Aborts if it is a success.
  const Error& error() const& {
    if (!error_) detail::no_error();
    return *error_;
  }
  /// The error, to move from. Aborts if it is a success.
  Error&& error() && {
    if (!error_) detail::no_error();
    return std::move(*error_);
  }

 private:
  std::optional<Error> error_;
};

}  // namespace hapax
