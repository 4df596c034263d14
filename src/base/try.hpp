// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/error.hpp>

#define HAPAX_CONCAT_AS_IS(a, b) a##b
#define HAPAX_CONCAT(a, b) HAPAX_CONCAT_AS_IS(a, b)

// If `expression` is an error, returns it from the enclosing function.
#define HAPAX_TRY(expression)                                \
  do {                                                       \
    auto hapax_tried = (expression);                         \
    if (!hapax_tried) return std::move(hapax_tried).error(); \
  } while (false)

// NOLINTBEGIN(bugprone-macro-parentheses): `name` is declared, not evaluated.
// Declares `name` as the value of a Result<T>, or returns its error from the enclosing function.
#define HAPAX_TRY_ASSIGN(name, expression)                          \
  auto HAPAX_CONCAT(hapax_tried_, __LINE__) = (expression);         \
  if (!HAPAX_CONCAT(hapax_tried_, __LINE__))                        \
    return std::move(HAPAX_CONCAT(hapax_tried_, __LINE__)).error(); \
  auto name = std::move(HAPAX_CONCAT(hapax_tried_, __LINE__)).value()
// As HAPAX_TRY_ASSIGN, for a variable that exists.
#define HAPAX_TRY_TO(variable, expression)                   \
  do {                                                       \
    auto hapax_tried = (expression);                         \
    if (!hapax_tried) return std::move(hapax_tried).error(); \
    variable = std::move(hapax_tried).value();               \
  } while (false)
// NOLINTEND(bugprone-macro-parentheses)
