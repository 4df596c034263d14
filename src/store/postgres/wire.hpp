// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Parameters in PostgreSQL's binary form, so that bytes need no escaping and an array is one value.
namespace hapax::store::postgres {

inline constexpr std::int64_t kEpochGapUs = 946'684'800'000'000;  // from 1970 to 2000

class Parameters {
 public:
  void add_bytes(std::string_view bytes);
  void add_bytes_or_null(std::string_view bytes);  // NULL if empty
  void add_number(std::int64_t number);
  void add_number_or_null(std::optional<std::int64_t> number);
  void add_flag(bool flag);
  void add_time(std::optional<std::int64_t> us_since_1970);  // timestamptz, or NULL
  void add_bytes_array(std::span<const std::string_view> values);
  void add_number_array(std::span<const std::int64_t> values);
  void add_number_array(std::span<const std::optional<std::int64_t>> values);  // with NULLs

  int count() const { return static_cast<int>(types_.size()); }
  const unsigned* types() const { return types_.data(); }
  std::vector<const char*> values() const;  // null for NULL
  std::vector<int> lengths() const;
  std::vector<int> formats() const;  // all binary

 private:
  void add(unsigned type, std::optional<std::string> value);

  std::vector<unsigned> types_;
  std::vector<std::optional<std::string>> values_;
};

}  // namespace hapax::store::postgres
