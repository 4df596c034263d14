// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/error.hpp>

#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

namespace hapax {

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
