// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "bench/store/ids.hpp"

#include <array>
#include <cstdio>

namespace hapax::bench {

namespace {

constexpr std::uint64_t kFirstMs = 1'767'225'600'000;  // 1 January 2026
constexpr std::uint64_t kIdsPerMs = 16;
constexpr std::uint64_t kVersion = 0xf000;
constexpr std::uint64_t kLow62 = 0x3fff'ffff'ffff'ffff;
constexpr std::uint64_t kVariant = 0x8000'0000'0000'0000;

std::string uuid(std::uint64_t high, std::uint64_t low) {
  std::array<char, 37> text{};
  std::snprintf(text.data(), text.size(), "%08llx-%04llx-%04llx-%04llx-%012llx",
                static_cast<unsigned long long>(high >> 32),
                static_cast<unsigned long long>(high >> 16 & 0xffff),
                static_cast<unsigned long long>(high & 0xffff),
                static_cast<unsigned long long>(low >> 48),
                static_cast<unsigned long long>(low & 0xffff'ffff'ffff));
  return text.data();
}

}  // namespace

std::string_view name(IdOrder order) {
  return order == IdOrder::random ? "random ids" : "time-ordered ids";
}

std::vector<std::string> Ids::next(std::size_t count) {
  std::vector<std::string> ids;
  ids.reserve(count);
  for (std::size_t i = 0; i < count; ++i) ids.push_back(make());
  return ids;
}

void Ids::skip(std::size_t count) {
  random_.discard(order_ == IdOrder::random ? 2 * count : count);
  made_ += count;
}

std::string Ids::make() {
  const std::uint64_t low = (random_() & kLow62) | kVariant;
  if (order_ == IdOrder::random) return uuid((random_() & ~kVersion) | 0x4000, low);
  const std::uint64_t ms = kFirstMs + made_ / kIdsPerMs;
  const std::uint64_t counter = made_++ % kIdsPerMs;
  return uuid(ms << 16 | 0x7000 | counter, low);
}

}  // namespace hapax::bench
