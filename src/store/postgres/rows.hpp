// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>

#include "base/sha256.hpp"
#include "store/postgres/connection.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hapax::store::postgres {

// Reads the columns of one row of a binary result, each with the type that the statement gives it.
class Row {
 public:
  Row(const QueryResult& answer, int row) : answer_(answer), row_(row) {}

  bool is_null(int column) const { return answer_.is_null(row_, column); }
  std::int64_t number(int column) const;  // of any integer type, or boolean; NULL is 0
  std::optional<std::int64_t> number_or_none(int column) const;
  bool flag(int column) const { return number(column) != 0; }
  std::string bytes(int column) const;  // NULL is empty
  WallTime time(int column) const;      // of a timestamptz
  std::optional<WallTime> time_or_none(int column) const;
  Digest digest(int column) const;
  std::vector<std::int64_t> numbers(int column) const;  // of a bigint[] without NULLs

  template <class No>
  No no(int column) const {
    return No(number(column));
  }

 private:
  const QueryResult& answer_;
  int row_;
};

}  // namespace hapax::store::postgres
