// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/postgres/wire.hpp"

#include <array>

namespace hapax::store::postgres {

namespace {

// OIDs of built-in types, which never change.
constexpr unsigned kBool = 16;
constexpr unsigned kBytea = 17;
constexpr unsigned kInt8 = 20;
constexpr unsigned kByteaArray = 1001;
constexpr unsigned kInt8Array = 1016;
constexpr unsigned kTimestamptz = 1184;

template <class Integer>
void append_big_endian(std::string& out, Integer number) {
  std::array<char, sizeof(Integer)> bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[bytes.size() - 1 - i] = static_cast<char>((number >> (8 * i)) & 0xff);
  }
  out.append(bytes.data(), bytes.size());  // in one call: this runs for every element of an array
}

std::string array_head(unsigned element_type, std::size_t count, bool has_nulls = false) {
  std::string out;
  append_big_endian(out, std::int32_t{count == 0 ? 0 : 1});  // dimensions
  append_big_endian(out, std::int32_t{has_nulls ? 1 : 0});
  append_big_endian(out, static_cast<std::int32_t>(element_type));
  if (count == 0) return out;
  append_big_endian(out, static_cast<std::int32_t>(count));
  append_big_endian(out, std::int32_t{1});  // the first index
  return out;
}

}  // namespace

void Parameters::add(unsigned type, std::optional<std::string> value) {
  types_.push_back(type);
  values_.emplace_back(std::move(value));
}

void Parameters::add_bytes(std::string_view bytes) {
  add(kBytea, std::string(bytes));
}

void Parameters::add_bytes_or_null(std::string_view bytes) {
  if (bytes.empty()) return add(kBytea, std::nullopt);
  add_bytes(bytes);
}

void Parameters::add_number(std::int64_t number) {
  std::string value;
  append_big_endian(value, number);
  add(kInt8, std::move(value));
}

void Parameters::add_number_or_null(std::optional<std::int64_t> number) {
  if (!number) return add(kInt8, std::nullopt);
  add_number(*number);
}

void Parameters::add_flag(bool flag) {
  add(kBool, std::string(1, flag ? '\1' : '\0'));
}

void Parameters::add_time(std::optional<std::int64_t> us_since_1970) {
  if (!us_since_1970) return add(kTimestamptz, std::nullopt);
  std::string value;
  append_big_endian(value, *us_since_1970 - kEpochGapUs);
  add(kTimestamptz, std::move(value));
}

void Parameters::add_bytes_array(std::span<const std::string_view> values) {
  std::string out = array_head(kBytea, values.size());
  std::size_t size = out.size();
  for (std::string_view each : values) size += 4 + each.size();
  out.reserve(size);
  for (std::string_view each : values) {
    append_big_endian(out, static_cast<std::int32_t>(each.size()));
    out += each;
  }
  add(kByteaArray, std::move(out));
}

void Parameters::add_number_array(std::span<const std::int64_t> values) {
  std::string out = array_head(kInt8, values.size());
  out.reserve(out.size() + values.size() * (sizeof(std::int32_t) + sizeof(std::int64_t)));
  for (std::int64_t each : values) {
    append_big_endian(out, std::int32_t{sizeof each});
    append_big_endian(out, each);
  }
  add(kInt8Array, std::move(out));
}

void Parameters::add_number_array(std::span<const std::optional<std::int64_t>> values) {
  std::string out = array_head(kInt8, values.size(), /*has_nulls=*/true);
  for (const std::optional<std::int64_t>& each : values) {
    append_big_endian(out, each ? std::int32_t{sizeof *each} : std::int32_t{-1});
    if (each) append_big_endian(out, *each);
  }
  add(kInt8Array, std::move(out));
}

std::vector<const char*> Parameters::values() const {
  std::vector<const char*> out;
  for (const auto& each : values_) out.push_back(each ? each->data() : nullptr);
  return out;
}

std::vector<int> Parameters::lengths() const {
  std::vector<int> out;
  for (const auto& each : values_) out.push_back(each ? static_cast<int>(each->size()) : 0);
  return out;
}

std::vector<int> Parameters::formats() const {
  return std::vector<int>(values_.size(), 1);
}

}  // namespace hapax::store::postgres
